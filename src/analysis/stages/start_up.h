// What a program did before its loop: the parts of start-up, and preprocessing.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/stages/stages.h"

namespace batchlight {

// What is known of the time from a process's start to its loop.
struct BeforeLoop {
  TimeSpan whole;
  int64_t python_ns = 0;               // when the interpreter handed over; the start, if not known
  bool knows_imports = false;          // else they were not recorded, and lie anywhere in it
  std::vector<TimeSpan> imports;       // of the main thread, outermost, not overlapping
  int64_t pytorch_ns = 0;              // importing torch, with all that it imports
  std::vector<PackageImport> largest;  // longest first
  std::vector<TimeSpan> preprocessing;
  std::vector<TimeSpan> cuda;  // the GPU's context is made
};

// `wall_ns`: of the process.
BeforeLoop ExamineStart(const StepInputs& inputs, ThreadId thread, TimeSpan before_loop,
                        int64_t wall_ns);

// Of the stretches of `stages` that are start-up.
StartUpParts PartsOfStartUp(const BeforeLoop& before, const std::vector<StageSpan>& stages);

}  // namespace batchlight
