// Calls of CUDA's libraries by name, with the kernels that they launched.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

struct LibrarySum {
  StringId name;
  RuntimeFamily family = RuntimeFamily::kCublas;
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
  uint64_t kernels = 0;  // launched in these calls, and in no other library call inside
  int64_t gpu_ns = 0;    // that these took
};

// By time on the GPU, then on the CPU.
std::vector<LibrarySum> SumLibraryCalls(const Store& store);

}  // namespace batchlight
