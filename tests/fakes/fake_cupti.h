// Between the two halves of the fake: records and callbacks.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "inject/cupti/abi.h"

namespace fake_cupti {

uint64_t Now();  // CUPTI's clock
uint32_t Version();
uint32_t NextCorrelation();
uint32_t ThreadId();
bool KindEnabled(uint32_t kind);
bool CallEnabled(uint32_t domain, uint32_t cbid);
// kGraphTrace was enabled after cuInit: CUPTI 13.0.1 then crashes in the next replay of a graph.
bool GraphTraceWasLate();
// `data` has what CUPTI tells of the call.
void InvokeCallback(uint32_t domain, uint32_t cbid,
                    const batchlight::inject::cupti::CallbackData& data);
void SetCapturing(const void* stream);  // nullptr = none
bool IsCapturing();
void BreakCapture();      // if there is one
bool CaptureWasBroken();  // and forgets it
// For the counters that are being read (fake_counters.cpp).
void CountKernel();
void CountGraph();
// How often a kernel runs that is launched now, where it is replayed; 0: it is not.
size_t RunsOfKernel();
// Whether this thread is in a callback, where cuptiRangeProfilerEnable never returns.
bool IsInCallback();
// For the instructions that are being sampled (fake_stalls.cpp).
void SampleKernel(const char* name, uint32_t correlation);
// What FAKE_COUNTERS_REFUSE says of the call; 0: it is not refused.
uint32_t Refusal(const char* call);
void InvokeResource(uint32_t cbid, void* descriptor);
// Stores a record of `bytes` known bytes and `record_bytes` in all (a newer CUPTI's are longer, an
// older one's shorter) into the calling thread's buffer.
void Emit(const void* record, size_t bytes, size_t record_bytes);
// The records of the device, its context and default stream, if those kinds are enabled.
void EmitDevice();

}  // namespace fake_cupti
