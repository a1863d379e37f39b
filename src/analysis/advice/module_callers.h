// Where the program calls a module: the innermost line of the user's own code around the call, by
// samples of Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/run/run_measures.h"

namespace batchlight::advice {

// "train.py:59", of the loop's thread in steady steps. "": Python was not sampled, or nothing of
// the user's is around it.
std::string CallerOfModule(const RunMeasures& run, std::string_view path);
// The same of all modules that no other module calls, within `spans`: ordered and disjoint.
std::string CallerOfModels(const RunMeasures& run, const std::vector<TimeSpan>& spans);

}  // namespace batchlight::advice
