// The steps that count as stretches of time, of every process; and a store without what lies
// outside of them, for tables that sum up all of it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// The steady steps of a process, or of the process that started it where it has none of its own (a
// worker).
class TimesOfSteps {
 public:
  TimesOfSteps(const StepSet& steps, const Store& store);

  int64_t NsOf(ProcessId process, int64_t start_ns, int64_t end_ns) const;
  bool Hold(ThreadId thread, int64_t start_ns, int64_t end_ns) const;

 private:
  ProcessId OwnerOf(const StepSet& steps, size_t row) const;

  const Store& store_;
  std::vector<std::vector<TimeSpan>> spans_;  // by row of processes, as the next
  std::vector<ProcessId> owners_;
};

// Keeps the samples of processors, and the calls of the C library, of CUDA's libraries and of CUDA
// with a stack, that lie within these times as a whole. Calls that were too short to be recorded
// one by one have no time: none is kept.
void KeepStepsAlone(const StepSet& steps, Store& store);

}  // namespace batchlight
