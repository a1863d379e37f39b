// The events behind every row of a step breakdown: which events the time of a phase (CPU) or part
// (GPU) was spent in, grouped by name. The groups of a phase add up to it, to the nanosecond.
//
// CPU: a moment belongs to the innermost call on the thread that runs the steps (thread_events.h).
// While that thread only waits inside backward(), it belongs to the calls on autograd's threads.
// GPU, busy: a moment belongs to whichever work of the part running at that time began first.
// GPU, idle: a moment belongs to the call that the launching thread was in, the thread whose launch
// ended the gap. If it was in no call, or launched in time, it belongs to the work launched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/breakdown/step_breakdown.h"
#include "analysis/breakdown/thread_events.h"
#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/owners/attribution_tree.h"

namespace batchlight {

struct Attribution;
struct StepInputs;

// The longest time that one event has in the phase, within a steady step.
struct LongestEvent {
  int64_t ns = 0;          // in this phase: without calls inside, without what else ran then
  int64_t start_ns = 0;    // of the event; of no event and idle time: of the stretch
  uint32_t step = kNoRow;  // row of ProcessSteps::steps
  std::string after;       // idle time of a GPU: the work that began last before it
  std::string before;      // ... and the work that ended it
};

struct EventGroup {
  EventKind kind = EventKind::kNone;
  std::string name;
  std::string op;        // operator around a CUDA call; operator that launched the longest work
  int64_t total_ns = 0;  // over steady steps
  uint64_t count = 0;    // events over steady steps
  LongestEvent longest;
  std::vector<int64_t> bin_ns;  // of every bin of the track, steady or not
  std::vector<uint32_t> bin_count;
};

// Of one process on its CPU thread or on one of its GPUs.
struct TrackEvents {
  ProcessId process;
  int32_t device = -1;  // -1: the CPU
  // By row of StepBreakdown::phases, or by GpuPart; each by falling total.
  std::vector<std::vector<EventGroup>> phases;
  // Of the steps with time on this track; few enough to keep all tracks together small.
  std::vector<StepBin> bins;
};

struct PhaseEvents {
  std::vector<TrackEvents> tracks;  // by process of the steps: CPU, then its GPUs in order

  const TrackEvents* Of(ProcessId process, int32_t device) const;  // nullptr: none
};

PhaseEvents FindPhaseEvents(const StepInputs& inputs, const StepSet& steps,
                            const std::vector<StepBreakdown>& breakdowns,
                            const std::vector<GpuBreakdown>& gpus, const Attribution& work);

std::string_view EventKindName(EventKind kind);  // "CUDA call"
std::string_view EventKindKey(EventKind kind);   // "cuda_call", for files

}  // namespace batchlight
