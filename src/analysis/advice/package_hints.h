// What a colleague would say of time that the program's own functions spend in a package or module
// of Python that is known for it: opening files anew, unpacking, starting programs, drawing.
#pragma once

#include <string>

#include "analysis/lines/code_samples.h"

namespace batchlight::advice {

struct PackageHint {
  std::string text;             // a sentence or two with a blank behind them; "": nothing is known
  bool before_workers = false;  // it is better than the same work in the background
};

// Where packages of one kind hold a third of the samples.
PackageHint HintFor(const Store& store, const SampledTime& time);

}  // namespace batchlight::advice
