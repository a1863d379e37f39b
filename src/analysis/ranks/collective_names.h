// NCCL's operations and element types under the names that PyTorch gives them.
#pragma once

#include <cstdint>
#include <string_view>

namespace batchlight {

// An element type.
struct CollectiveType {
  std::string_view ours;     // "f32"
  std::string_view pytorch;  // "Float"
  uint32_t bytes;
};
const CollectiveType* FindCollectiveType(std::string_view ours);       // nullptr: unknown
const CollectiveType* CollectiveTypeOfPyTorch(std::string_view name);  // nullptr: unknown

// "ncclAllReduce" -> "AllReduce"; "" for calls that move no data.
std::string_view OperationOfNccl(std::string_view call);
// "_allgather_base", "all_gather" -> "AllGather"; a barrier is "Barrier". "" for what moves no
// data.
std::string_view OperationOfPyTorch(std::string_view name);
std::string_view PyTorchNameOf(std::string_view operation);  // "AllGather" -> "allgather"

// What `bytes` of NCCL's message size mean. An operation is none, one or both of these.
bool DividesInput(std::string_view operation);    // each rank gets one of n parts of what it gives
bool CollectsOutput(std::string_view operation);  // each rank gets n times as much as one gives

}  // namespace batchlight
