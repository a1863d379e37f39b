#include "inject/counting/launch_choice.h"

#include <cstring>

#include "inject/cupti/driver_launches.h"

namespace batchlight::inject::cupti {
namespace {

// Of kernels that wait for other GPUs: NCCL's, NVSHMEM's, PyTorch's by symmetric memory, vLLM's.
constexpr char kCollectives[] =
    "nccl|nvshmem|all_reduce|allreduce|AllReduce|all_gather|allgather|reduce_scatter|reducescatter|"
    "cross_device|multimem|all_to_all|alltoall|symm_mem|symmetric_mem";

// Whether one of words "gemm|softmax" stands in the name.
bool HasWord(const char* name, const char* words) {
  for (; *words != 0; words += *words == '|') {
    const size_t bytes = std::strcspn(words, "|");
    for (const char* at = name; bytes != 0 && *at != 0; ++at) {
      if (std::strncmp(at, words, bytes) == 0) return true;
    }
    words += bytes;
  }
  return false;
}

// Whether cuLaunchKernelEx is told that the blocks wait for each other.
bool IsToldToCooperate(const CallbackData& call) {
  if (call.parameters == nullptr) return false;
  const auto* const config = *static_cast<const LaunchConfig* const*>(call.parameters);
  if (config == nullptr || config->attributes == nullptr) return false;
  for (uint32_t i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == kCooperativeAttribute) return attribute.value.cooperative != 0;
  }
  return false;
}

}  // namespace

LaunchFate JudgeLaunch(uint32_t cbid, const CallbackData& call, const char* words) {
  constexpr uint32_t kCooperative = 477, kCooperativePtsz = 478, kKernelEx = 652;
  if (IsOneOf(kGraphLaunches, cbid)) return LaunchFate::kGraph;
  if (!IsOneOf(kKernelLaunches, cbid)) return LaunchFate::kNotAsked;
  if (call.symbol_name == nullptr || !HasWord(call.symbol_name, words)) {
    return LaunchFate::kNotAsked;
  }
  if (HasWord(call.symbol_name, kCollectives)) return LaunchFate::kCollective;
  if (cbid == kCooperative || cbid == kCooperativePtsz) return LaunchFate::kCooperative;
  return cbid >= kKernelEx && IsToldToCooperate(call) ? LaunchFate::kCooperative
                                                      : LaunchFate::kReplayed;
}

}  // namespace batchlight::inject::cupti
