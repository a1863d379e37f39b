#include "analysis/ranks/collective_names.h"

#include <algorithm>
#include <array>
#include <string>

namespace batchlight {
namespace {

constexpr auto kTypes = std::to_array<CollectiveType>({{"i8", "Char", 1},
                                                       {"u8", "Byte", 1},
                                                       {"i16", "Short", 2},
                                                       {"i32", "Int", 4},
                                                       {"u32", "UInt32", 4},
                                                       {"i64", "Long", 8},
                                                       {"u64", "UInt64", 8},
                                                       {"f16", "Half", 2},
                                                       {"f32", "Float", 4},
                                                       {"f64", "Double", 8},
                                                       {"bf16", "BFloat16", 2},
                                                       {"bool", "Bool", 1},
                                                       {"f8e4m3", "Float8_e4m3fn", 1},
                                                       {"f8e5m2", "Float8_e5m2", 1}});

struct Operation {
  std::string_view nccl;     // "AllReduce" of ncclAllReduce
  std::string_view pytorch;  // as its process group says it
  std::string_view start;    // of every name that PyTorch has for it, without underscores
};

// A name before those that it starts with.
constexpr auto kOperations =
    std::to_array<Operation>({{"AllReduce", "allreduce", "allreduce"},
                              {"AllGather", "allgather", "allgather"},
                              {"ReduceScatter", "reduce_scatter", "reducescatter"},
                              {"Broadcast", "broadcast", "broadcast"},
                              {"Bcast", "broadcast", "broadcast"},
                              {"Reduce", "reduce", "reduce"},
                              {"AlltoAll", "all_to_all", "alltoall"},
                              {"AllToAll", "all_to_all", "alltoall"},
                              {"Gather", "gather", "gather"},
                              {"Scatter", "scatter", "scatter"},
                              {"Send", "send", "send"},
                              {"Recv", "recv", "recv"},
                              {"Barrier", "barrier", "barrier"}});

template <typename Test>
const CollectiveType* FindType(Test&& test) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), test);
  return found == kTypes.end() ? nullptr : &*found;
}

bool IsOneOf(std::string_view operation, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), operation) != names.end();
}

}  // namespace

const CollectiveType* FindCollectiveType(std::string_view ours) {
  return FindType([&](const CollectiveType& type) { return type.ours == ours; });
}

const CollectiveType* CollectiveTypeOfPyTorch(std::string_view name) {
  return FindType([&](const CollectiveType& type) { return type.pytorch == name; });
}

std::string_view OperationOfNccl(std::string_view call) {
  if (!call.starts_with("nccl")) return {};
  for (const Operation& operation : kOperations) {
    if (call.substr(4) == operation.nccl) return operation.nccl;
  }
  return {};
}

std::string_view OperationOfPyTorch(std::string_view name) {
  std::string plain(name);
  std::erase(plain, '_');
  for (const Operation& operation : kOperations) {
    if (plain.starts_with(operation.start)) return operation.nccl;
  }
  return {};
}

std::string_view PyTorchNameOf(std::string_view operation) {
  for (const Operation& known : kOperations) {
    if (known.nccl == operation) return known.pytorch;
  }
  return {};
}

bool DividesInput(std::string_view operation) {
  return IsOneOf(operation, {"ReduceScatter", "Scatter", "AlltoAll", "AllToAll"});
}

bool CollectsOutput(std::string_view operation) {
  return IsOneOf(operation, {"AllGather", "Gather", "AlltoAll", "AllToAll"});
}

}  // namespace batchlight
