// Names of the kernel's functions, as far as this user may see where they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchlight::capture {

struct KernelFunction {
  uint64_t begin = 0;
  std::string name;
};

// By address; empty where the kernel hides them (kernel.kptr_restrict).
std::vector<KernelFunction> ReadKernelFunctions(const char* path = "/proc/kallsyms");

}  // namespace batchlight::capture
