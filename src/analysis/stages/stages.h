// The life of each training process, from its start to its end, cut into stages without gap or
// overlap: they add up to the process's wall time, to the nanosecond.
//
// A process without steps is shown where it is the only thing there is to show: the first of the
// run that runs Python. Stages that a recording knows nothing of (imported traces, older formats)
// are not invented: what nothing is known of is "other".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/stages/stage_kind.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct StepInputs;

struct StageSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StageKind kind = StageKind::kOther;

  int64_t duration_ns() const { return end_ns - start_ns; }
};

struct StageTotal {
  StageKind kind = StageKind::kOther;
  uint64_t count = 0;    // steps of a stage that is made of steps, else stretches
  int64_t total_ns = 0;  // their sum
  double share = 0;      // of the process's wall time
  double each_ns = 0;    // mean
};

// Time in the modules of one package, without the packages that it imports in turn.
struct PackageImport {
  std::string package;  // "torch"
  int64_t ns = 0;
};

// What start-up was made of.
struct StartUpParts {
  int64_t interpreter_ns = 0;          // until Python runs the program
  int64_t imports_ns = 0;              // of the main thread
  int64_t pytorch_imports_ns = 0;      // of them: torch, with all that it imports
  std::vector<PackageImport> largest;  // the longest, longest first
  int64_t cuda_ns = 0;                 // CUDA starts, and what is called before work is launched
  int64_t set_up_ns = 0;               // the rest: model, data, and what belongs to neither
  int64_t unknown_ns = 0;              // the rest where no imports were recorded: these as well
};

struct StartUpPart {
  std::string_view key;   // "set_up", for files
  std::string_view name;  // "set-up"
  int64_t ns = 0;
};
std::vector<StartUpPart> PartsByName(const StartUpParts& parts);  // in order; some may be 0

struct ProcessStages {
  ProcessId process;
  int32_t rank = -1;
  std::vector<StageSpan> spans;    // from start to end of the process
  std::vector<StageTotal> totals;  // of the kinds that occur, in order of the kinds
  StartUpParts start_up;           // zeros where start-up was not recorded

  int64_t wall_ns() const {
    return spans.empty() ? 0 : spans.back().end_ns - spans.front().start_ns;
  }
  const StageTotal* Of(StageKind kind) const;  // nullptr: does not occur
};

// The stretches of one kind.
std::vector<TimeSpan> SpansOf(const std::vector<StageSpan>& stages, StageKind kind);

struct RunStages {
  std::vector<ProcessStages> processes;  // as in StepSet

  const ProcessStages* Main() const { return processes.empty() ? nullptr : &processes.front(); }
};

// The mean of several processes: what one of them spends in each stage.
struct MeanStages {
  size_t processes = 0;
  int64_t wall_ns = 0;
  std::vector<StageTotal> totals;  // count: the nearest whole number
};
std::optional<MeanStages> MeanOf(const RunStages& stages);  // nothing: fewer than two processes

// What more than half of a step is where that is not the loop's own stage: an iteration that begins
// with what is told as "between epochs".
struct StageInStep {
  StageKind kind = StageKind::kOther;
  int64_t ns = 0;
};
std::optional<StageInStep> MostOf(const RunStages& stages, ProcessId process, const Step& step);

RunStages FindStages(const StepInputs& inputs, const StepSet& steps);

}  // namespace batchlight
