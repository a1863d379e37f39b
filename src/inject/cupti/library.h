// Finds libcupti and its functions. There must never be two copies in a process (the second one
// sees nothing), so the copy that the program has loaded is used, then the one that came with the
// program's CUDA runtime, then the toolkit's.
#pragma once

#include <cstdint>

#include "counters/profiler_abi.h"
#include "inject/cupti/abi.h"
#include "inject/cupti/pc_sampling_abi.h"

namespace batchlight::inject::cupti {

struct Library {
  void* handle = nullptr;
  uint32_t version = 0;  // as cuptiGetVersion says
  char path[512] = {};
#define CUPTI_SYMBOL(name, parameters, since, required) uint32_t(*name) parameters = nullptr;
#include "inject/cupti/symbols.def"
#undef CUPTI_SYMBOL
};

// nullptr on success, else why CUDA cannot be recorded: one sentence, static or inside `library`.
const char* OpenLibrary(Library& library);

// A symbol of the CUDA driver (libcuda.so.1), which is loaded when CUPTI is; nullptr if absent.
void* DriverSymbol(const char* name);

}  // namespace batchlight::inject::cupti
