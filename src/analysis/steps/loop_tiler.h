// Lays iterations next to each other. An iteration reaches from the end of the one before to its
// own end, so that whatever the loop does between the two (waiting for the next batch, logging) is
// part of one.
//
// Where something between them belongs to no iteration, the next one opens later: with the first
// data loading that feeds it, else as long before its first forward as other iterations do. This
// is so after a validation, a checkpoint and the end of an epoch (a DataLoader or a range of an
// epoch begins), and before the first iteration with new optimizers. The first iteration of all
// opens with its data loading, else with its first forward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/steps/found_steps.h"
#include "analysis/steps/step_inputs.h"
#include "analysis/steps/update_pattern.h"

namespace batchlight {

struct IterationEnd {
  int64_t end_ns = 0;
  int64_t start_ns = 0;   // it opens here at the latest
  int64_t number = -1;    // -1: its place
  bool is_range = false;  // start_ns is where the user says that its work begins
  bool fresh = false;     // new optimizers: what lies before it belongs to no iteration
};

// The iterations of a pattern of updates, or of calls in their place.
std::vector<IterationEnd> EndsOf(const std::vector<Update>& updates, const UpdatePattern& pattern);

// What a mark between two iterations makes of the time: validation, or the saving of a checkpoint;
// nothing: a part of the loop.
std::optional<StepKind> PauseKind(const Store& store, const PhaseMark& mark);

// Whether what is found in `with` of so many iterations is a part of each: nearly all have it.
bool IsInEveryStep(size_t with, size_t iterations);

// Where a range or call of an epoch begins on the thread, in no order.
std::vector<int64_t> NamedEpochStarts(const StepInputs& inputs, ThreadId thread);

// When the thread begins an epoch, ascending: one that is named so, or a DataLoader of training.
std::vector<int64_t> EpochStarts(const StepInputs& inputs, ThreadId thread);

class LoopTiler {
 public:
  LoopTiler(const StepInputs& inputs, ProcessId process, ThreadId thread);

  // Iterations with these ends, ascending; one that the recording has only in part is left out.
  void Tile(const std::vector<IterationEnd>& ends, FoundSteps* found);

 private:
  struct Break {
    int64_t start_ns;
    int64_t end_ns;
    StepKind kind;
    bool of_epoch;
  };

  void AddBreaks();
  size_t IterationsWith(const std::vector<IterationEnd>& ends, bool (*counts)(const Break&)) const;
  void DropBreaksOfEveryIteration(const std::vector<IterationEnd>& ends);
  int64_t CoreOf(const IterationEnd& end, int64_t from_ns) const;
  int64_t FirstStart(const std::vector<IterationEnd>& ends) const;
  int64_t Start(const IterationEnd& end, int64_t before_ns) const;
  const std::vector<int64_t>& Openings() const { return has_loads_ ? loads_ : cores_; }
  int64_t OpeningAfter(int64_t from_ns, int64_t core_ns) const;
  void MeasureLead(const std::vector<IterationEnd>& ends);
  std::vector<Break> BreaksWithin(const IterationEnd& end, int64_t before_ns) const;
  bool IsBroken(int64_t time_ns) const;

  const StepInputs& inputs_;
  ProcessId process_;
  ThreadId thread_;
  std::vector<Break> breaks_;           // by start
  std::vector<Break> pauses_;           // those that last; they do not overlap
  std::vector<int64_t> loads_;          // starts of data loading
  std::vector<int64_t> loader_starts_;  // of new DataLoader iterators
  std::vector<int64_t> cores_;          // starts of forward, loss and backward in no break
  std::vector<int64_t> backwards_;
  bool has_loads_ = false;     // most iterations load data
  size_t usual_loads_ = 1;     // between two iterations, before the first forward
  int64_t usual_lead_ns_ = 0;  // from the end of an iteration to the first forward of the next
};

}  // namespace batchlight
