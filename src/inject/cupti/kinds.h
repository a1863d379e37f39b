// Turns CUPTI's collection on and off: which kinds of records, which API calls.
#pragma once

#include "inject/cupti/library.h"
#include "inject/cupti/options.h"

namespace batchlight::inject::cupti {

// Settings that must precede the first context: thread ids, buffers.
void SetAttributes(const Library& library);

// Devices, contexts and streams: rare, always wanted, enabled once.
void EnableFactKinds(const Library& library, const Options& options);

// The calls alone. CUPTI hooks them when the first context is made, and only if they are enabled
// then: calls enabled for the first time later give no records (13.0).
void SetAllCalls(const Library& library, const Options& options, bool on);

// Called for what CUPTI refuses to record: `what` in words, nullptr for kernels, without which
// nothing works.
using Refused = void (*)(const char* what, const char* why);

// `whole_graphs`: CUDA graphs may be recorded as a whole, because collection began in cuInit and no
// windows follow.
void EnableKinds(const Library& library, const Options& options, bool whole_graphs,
                 Refused refused);
void DisableKinds(const Library& library, const Options& options, bool whole_graphs);

// Page faults, if they are wanted; CUPTI takes their configuration only after cuInit.
void EnablePageFaults(const Library& library, const Options& options, Refused refused);

// A result code of CUPTI in words.
const char* ResultText(const Library& library, uint32_t result);

}  // namespace batchlight::inject::cupti
