// Samples of Python code added up (store.python_samples): by function, and by line.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lines/look_times.h"
#include "analysis/numbers/time_span.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// A function, or one of its lines.
struct SampledCode {
  StringId file;
  StringId function;
  uint32_t line = 0;     // of the code; of a function, its first
  uint64_t samples = 0;  // that found a thread in it, not in what it called
  int64_t self_ns = 0;   // wall time that these stand for
  int64_t self_cpu_ns = 0;
  LookTimes self_times;  // of self_ns
  int64_t total_ns = 0;  // with what it called; recursion counts once
  int64_t total_cpu_ns = 0;
  uint64_t threads = 0;  // in which it was innermost
  // Wall time within steady steps, of the threads that run them: sums over all of these steps.
  int64_t steps_self_ns = 0;
  int64_t steps_total_ns = 0;
  // Of looks one after the other that saw it, whatever it called; in steps that count, if it was in
  // one without a break.
  TimeSpan longest{};
};

// By processor time of their own, then by wall time, then by name.
std::vector<SampledCode> SumSamplesByPythonFunction(const Store& store, const StepSet& steps);
std::vector<SampledCode> SumSamplesByPythonLine(const Store& store, const StepSet& steps);

// The steady steps of all processes whose steps run on a thread, and how long they took together.
struct StepsOnThreads {
  uint64_t count = 0;
  int64_t ns = 0;
};
StepsOnThreads CountStepsOnThreads(const StepSet& steps);

}  // namespace batchlight
