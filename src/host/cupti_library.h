#pragma once

#include "counters/profiler_api.h"

namespace batchlight::host {

// Loads libcupti of `folder` ("-": wherever the loader and the toolkits have it) and finds what
// reads counters. If that fails, `why` has a sentence.
bool OpenCupti(const char* folder, counters::ProfilerApi& api, char (&why)[512]);

// Prints why=; returns kUnknown.
int SayCuptiFailure(const char* call, uint32_t result);

}  // namespace batchlight::host
