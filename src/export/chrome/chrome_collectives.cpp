// What NCCL's payloads say about a collective, under the names that torch.profiler's traces use.
#include <algorithm>
#include <array>

#include "analysis/cuda/kernel_class.h"
#include "analysis/roofline/operator_inputs.h"
#include "export/chrome/chrome_trace.h"

namespace batchlight {
namespace {

struct Name {
  std::string_view ours;
  std::string_view pytorch;
};

constexpr auto kDtypes = std::to_array<Name>({{"i8", "Char"},
                                              {"u8", "Byte"},
                                              {"i16", "Short"},
                                              {"i32", "Int"},
                                              {"u32", "UInt32"},
                                              {"i64", "Long"},
                                              {"u64", "UInt64"},
                                              {"f16", "Half"},
                                              {"f32", "Float"},
                                              {"f64", "Double"},
                                              {"bf16", "BFloat16"},
                                              {"bool", "Bool"},
                                              {"f8e4m3", "Float8_e4m3fn"},
                                              {"f8e5m2", "Float8_e5m2"}});

constexpr auto kOperations = std::to_array<Name>({{"AllReduce", "allreduce"},
                                                  {"AllGather", "allgather"},
                                                  {"ReduceScatter", "reduce_scatter"},
                                                  {"Broadcast", "broadcast"},
                                                  {"Bcast", "broadcast"},
                                                  {"Reduce", "reduce"},
                                                  {"AlltoAll", "all_to_all"},
                                                  {"AllToAll", "all_to_all"},
                                                  {"Gather", "gather"},
                                                  {"Scatter", "scatter"},
                                                  {"Send", "send"},
                                                  {"Recv", "recv"}});

template <size_t kCount>
std::string_view InPyTorch(const std::array<Name, kCount>& names, std::string_view ours) {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const Name& name) { return name.ours == ours; });
  return found == names.end() ? std::string_view() : found->pytorch;
}

uint64_t BytesOf(std::string_view dtype) {
  if (dtype == "u32") return 4;
  if (dtype == "u64") return 8;
  return static_cast<uint64_t>(std::max(0, DtypeBytes(dtype)));
}

// The element type of the tensors of the communication operator that made the call.
std::string DtypeOfOperator(const ChromeTrace& trace, ApiCallId call) {
  if (call.IsNone()) return {};
  const OperatorCallsTable& calls = trace.store.operator_calls;
  uint32_t row = trace.operator_around[call.row()];
  for (; row < calls.size(); row = calls.parent[row].value) {
    const std::string_view name = trace.store.Text(calls.name[row]);
    if (name != "record_param_comms" && !name.starts_with("c10d::") && !name.starts_with("nccl:")) {
      continue;
    }
    for (const OperatorInput& input : ParseOperatorInputs(trace.store.Text(calls.inputs[row]))) {
      if (!input.dtype.empty()) return std::string(input.dtype);
      if (!input.elements.empty()) return std::string(input.elements.front().dtype);
    }
  }
  return {};
}

// Global ranks in the order of the communicator, if all of them are known; otherwise all ranks of
// the job, if the communicator has as many.
std::vector<int64_t> RanksOf(const ChromeTrace& trace, const NcclCommunicator& communicator,
                             ProcessId process) {
  std::vector<int64_t> ranks(communicator.size(), -1);
  for (const auto& [member, rank] : communicator.rank_of) {
    if (member.IsNone() || rank < 0 || static_cast<size_t>(rank) >= ranks.size()) continue;
    ranks[static_cast<size_t>(rank)] = trace.places[member.row()].rank;
  }
  if (std::find(ranks.begin(), ranks.end(), -1) == ranks.end()) return ranks;
  const bool is_whole_job = !process.IsNone() && communicator.ranks > 0 &&
                            trace.places[process.row()].world_size == int64_t{communicator.ranks};
  if (!is_whole_job) return {};
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int64_t>(i);
  return ranks;
}

void AddElements(ChromeFile& file, const NcclCall& call, uint64_t ranks, std::string_view dtype) {
  const uint64_t element_bytes = BytesOf(dtype);
  if (call.bytes == 0) return;
  file.Arg("bytes") << static_cast<int64_t>(call.bytes & INT64_MAX);
  if (element_bytes == 0 || ranks == 0) return;
  const uint64_t count = call.bytes / element_bytes;
  const std::string_view operation = call.operation;
  const bool spreads = operation == "AlltoAll" || operation == "AllToAll";
  const bool divides = operation == "ReduceScatter" || operation == "Scatter" || spreads;
  const bool collects = operation == "AllGather" || operation == "Gather" || spreads;
  file.Arg("In msg nelems") << count * (divides ? ranks : 1);
  file.Arg("Out msg nelems") << count * (collects ? ranks : 1);
  file.TextArg("dtype", InPyTorch(kDtypes, dtype));
}

}  // namespace

void AddCollectiveArgs(ChromeTrace& trace, const NcclCall& call, std::string_view dtype) {
  static constexpr char kHex[] = "0123456789abcdef";
  ChromeFile& file = trace.file;
  const auto found = trace.nccl.communicators.find(call.communicator);
  const NcclCommunicator none;
  const NcclCommunicator& group = found == trace.nccl.communicators.end() ? none : found->second;
  file.TextArg("Collective name", InPyTorch(kOperations, call.operation));
  AddElements(file, call, group.ranks, dtype);
  if (group.ranks > 0) file.Arg("Group size") << group.ranks;
  if (call.communicator == 0) return;
  std::string name = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) name += kHex[call.communicator >> shift & 15];
  file.TextArg("Process Group Name", name);
  const std::vector<int64_t> ranks = RanksOf(trace, group, call.process);
  if (ranks.empty()) return;
  std::string list;
  for (const int64_t rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  file.TextArg("Process Group Ranks", "[" + list + "]");
}

void AddCollectiveArgsOfKernel(ChromeTrace& trace, const NcclCall& call, size_t kernel) {
  const KernelsTable& kernels = trace.store.kernels;
  std::string dtype(NcclElementType(trace.store.Text(kernels.short_name[kernel])));
  if (dtype.empty()) dtype = DtypeOfOperator(trace, kernels.api_call[kernel]);
  AddCollectiveArgs(trace, call, dtype);
}

}  // namespace batchlight
