#include "analysis/run/detailed_steps.h"

#include <utility>
#include <vector>

#include "analysis/numbers/statistics.h"

namespace batchlight {

DetailedSteps FindDetailedSteps(const StepSet& steps) {
  DetailedSteps found;
  const ProcessSteps* process = steps.Main();
  if (process == nullptr) return found;
  std::vector<int64_t> plain;
  for (const Step& step : process->steps) {
    if (step.kind == StepKind::kExcluded) continue;
    ++found.of_run;
    if (step.kind == StepKind::kPlain) plain.push_back(step.duration_ns());
  }
  found.recorded = found.of_run - plain.size();
  found.counted = process->steady.size();
  found.plain_ns = Summarize(std::move(plain)).median;
  return found;
}

}  // namespace batchlight
