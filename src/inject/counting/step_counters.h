// Hardware counters of whole steps, or of each kernel of some steps: the plan's passes take turns
// from iteration to iteration of the training loop (docs/design/0023-counters.md). Nothing is
// replayed but, on request, single kernels. All calls but the last and OnLaunchCall are made where
// an iteration ends, by the thread that trains.
#pragma once

#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

// Counters are read in this process if the session asks for them. Whatever prevents it is a Reason.
bool PrepareStepCounters(const Library& library, void* subscriber);

// Whether they have not been read to the end yet.
bool IsReadingCounters();

// Any thread: before and after a call of the driver.
void OnLaunchCall(uint32_t cbid, const CallbackData& call);

// As Follower has it: any thread.
uint64_t ReplayedNs(uint32_t correlation);

// The process ends: values that are being worked out get into the recording.
void FinishStepCounters();

// In a forked child CUDA does not work.
void ForgetStepCounters();

}  // namespace batchlight::inject::cupti
