// The code that the program loads onto its GPUs, kept so that instructions which are sampled later
// can be told: with source lines (Triton's kernels have them), or short. Only while instructions
// are sampled; what got no samples is never written.
#pragma once

#include <cstdint>

#include "inject/cupti/library.h"
#include "inject/rt/guard.h"

namespace batchlight::inject::cupti {

// Before the first module is loaded. False: there is no memory.
bool PrepareModules();

// A module was loaded; CUPTI's copy of it is good within the callback alone.
void KeepModule(const ModuleData& module);

// Writes the module with that checksum into the calling thread's stream, unless this has been done.
// Nothing: it was not kept, and its instructions are told by their offsets.
void WriteSampledModule(const Library& library, uint64_t crc);

}  // namespace batchlight::inject::cupti
