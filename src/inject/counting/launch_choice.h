// Which launches are replayed by themselves, and why others that are asked for are not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

enum class LaunchFate : uint8_t {
  kNotAsked,     // another kernel, or no launch at all
  kReplayed,     // may be
  kCollective,   // waits for other GPUs, which do not launch it again
  kCooperative,  // its blocks wait for each other
  kGraph,        // of a CUDA graph, whose kernels have no launch of their own
  kCount,
};

// As CUDA's headers have them, where a launch says more than its name.
struct LaunchAttribute {
  uint32_t id;
  uint32_t padding;
  union {
    char bytes[64];
    int cooperative;
  } value;
};
struct LaunchConfig {
  uint32_t sizes[7];  // grid, block, dynamic shared memory
  void* stream;
  const LaunchAttribute* attributes;
  uint32_t attribute_count;
};
inline constexpr uint32_t kCooperativeAttribute = 2;

// `words`: "gemm|softmax", of which one is to stand in the kernel's name as the code has it.
LaunchFate JudgeLaunch(uint32_t cbid, const CallbackData& call, const char* words);

}  // namespace batchlight::inject::cupti
