// Finds the steps of a training loop automatically: an iteration as the author of the loop counts
// them. Per process, by the first of these that exists:
//   1. a user's range that repeats around the work of a step: step, train_step, iteration,
//      ProfilerStep#N, batch N, or any range that holds exactly one optimizer step each time;
//   2. updates by optimizers: each, or the batch of a DataLoader or the repeating pattern in which
//      several optimizers step;
//   3. backward calls, where weights are updated by hand;
//   4. the DataLoader's next: a step reaches from one call to the next;
//   5. if the loop replays its step as a CUDA graph: from one replay to the next;
//   6. calls of a model, where nothing is trained;
//   7. the period of the kernel sequence; 8. the period of the operator sequence.
// An optimizer that is called only before such replays (warm-up, capture) does not mark steps.
// Steps tile the loop: whatever lies between the ends of two belongs to the second (loop_tiler.h).
// Only validations, checkpoints and what lies between epochs or models are part of no step.
// Steps of one process lie on one thread, are ordered and do not overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/numbers/statistics.h"
#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

struct StepInputs;

enum class StepSource : uint8_t {
  kNone,
  kNvtxRange,
  kOptimizer,
  kDataLoader,
  kKernelPeriod,
  kOperatorPeriod,
  kGraphReplay,
  kBackward,
  kRequest,
};

// How a step differs from the steady ones. Statistics are over steady steps only, unless there are
// none.
enum class StepKind : uint8_t {
  kSteady,
  kWarmUp,        // slow ones at the start, and those before the capture of a graph
  kCompile,       // torch.compile or kernel building took part of it
  kValidation,    // has an evaluation
  kRollout,       // begins with samples that the model makes to learn from
  kCheckpoint,    // saves the model
  kEpochStart,    // starts a DataLoader
  kExcluded,      // outside the range that the caller asked for
  kGraphCapture,  // captures a CUDA graph that later steps replay
  kPlain,         // recorded without detail: only where it begins and ends (step_detail.h)
  kPartlyPlain,   // part of it is such
  kCounted,       // hardware counters were switched on or off, or read kernel by kernel
  kLookedAt,      // the recorder looked at calls of its model, which takes time
  kCount
};

struct Step {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t number = 0;  // from the range's name where it has one, else counted from 0
  StepKind kind = StepKind::kSteady;
  bool outlier = false;  // a steady step that took unusually long

  int64_t duration_ns() const { return end_ns - start_ns; }
};

struct ProcessSteps {
  ProcessId process;
  int32_t rank = -1;
  ThreadId thread;  // None for steps from the kernel sequence
  StepSource source = StepSource::kNone;
  std::string marker;            // "ProfilerStep#", "SGD.step": what was followed
  std::vector<Step> steps;       // at least one
  std::vector<uint32_t> steady;  // rows of the steady ones; of all where none is
  Sample duration;               // of the steady ones, ns
  int64_t between_ns = 0;        // median time from the end of a step to the start of the next
  uint64_t outlier_count = 0;
  uint32_t micro_batches = 1;  // forwards and backwards whose gradients a step sums up
};

struct StepSet {
  // Training processes, by rank, then start. Empty: no step was found.
  std::vector<ProcessSteps> processes;
  std::string how;      // one sentence for people: how they were found, or why there are none
  std::string problem;  // what was asked for and is not there, with the nearest names; else ""
  // A stretch of time, which is the one step of each process (StepsWithin). Of calls that last
  // beyond its ends the part inside counts, and of the GPU's work what runs in it, whenever it was
  // launched. What is counted counts where it begins, so that parts of a stretch add up to it.
  std::optional<TimeSpan> within;

  const ProcessSteps* Of(ProcessId process) const;  // nullptr: none
  const ProcessSteps* Main() const { return processes.empty() ? nullptr : &processes.front(); }
};

// The places of the first and last step that count.
struct StepPart {
  int64_t first_step = 0;
  int64_t last_step = INT64_MAX;
};
struct ProcessPart {
  ProcessId process;
  StepPart steps;
};

struct StepOptions {
  std::string range;       // the range that is a step; "" = find out
  std::string key;         // a range, operator or phase whose end ends a step; "" = find out
  int64_t first_step = 0;  // steps before count as excluded
  int64_t last_step = INT64_MAX;
  // Instead of these: of each process its own; others are left out. Empty: the same of all.
  std::vector<ProcessPart> parts;
  int32_t rank = -1;  // only the training processes of this rank; -1: all
};

StepSet FindSteps(const Store& store, const StepOptions& options = {});
StepSet FindSteps(const StepInputs& inputs, const StepOptions& options);

std::string_view StepKindName(StepKind kind);        // "warm-up"
std::string_view StepSourceName(StepSource source);  // "nvtx_range"

}  // namespace batchlight
