// What NCCL's payloads say about a collective, under the names that torch.profiler's traces use.
#include <algorithm>

#include "analysis/cuda/kernel_class.h"
#include "analysis/ranks/collective_names.h"
#include "analysis/roofline/operator_inputs.h"
#include "base/json_text.h"
#include "export/chrome/chrome_trace.h"

namespace batchlight {
namespace {

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

void AddText(ChromeFile& file, std::string_view key, std::string_view text) {
  std::string escaped;
  AppendJsonEscaped(text, escaped);
  file.TextArg(key, escaped);
}

void AddElements(ChromeFile& file, const NcclCall& call, uint64_t ranks, std::string_view dtype) {
  if (call.in_elements && call.out_elements) {
    file.Arg("In msg nelems") << *call.in_elements;
    file.Arg("Out msg nelems") << *call.out_elements;
    AddText(file, "dtype", call.pytorch_type);
    return;
  }
  if (call.bytes == 0) return;
  file.Arg("bytes") << static_cast<int64_t>(call.bytes & INT64_MAX);
  const CollectiveType* type = FindCollectiveType(dtype);
  if (type == nullptr || ranks == 0) return;
  const uint64_t count = call.bytes / type->bytes;
  file.Arg("In msg nelems") << count * (DividesInput(call.operation) ? ranks : 1);
  file.Arg("Out msg nelems") << count * (CollectsOutput(call.operation) ? ranks : 1);
  file.TextArg("dtype", type->pytorch);
}

}  // namespace

void AddCollectiveArgs(ChromeTrace& trace, const NcclCall& call, std::string_view dtype) {
  static constexpr char kHex[] = "0123456789abcdef";
  ChromeFile& file = trace.file;
  const auto found = trace.nccl.communicators.find(call.communicator);
  const NcclCommunicator none;
  const NcclCommunicator& group = found == trace.nccl.communicators.end() ? none : found->second;
  AddText(file, "Collective name",
          call.pytorch_name.empty() ? PyTorchNameOf(call.operation) : call.pytorch_name);
  AddElements(file, call, group.ranks, dtype);
  if (group.ranks > 0) file.Arg("Group size") << group.ranks;
  if (call.communicator == 0) return;
  if (!group.pytorch_name.empty()) {
    AddText(file, "Process Group Name", group.pytorch_name);
    if (!group.pytorch_ranks.empty()) AddText(file, "Process Group Ranks", group.pytorch_ranks);
    return;
  }
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
