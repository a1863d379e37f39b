// What a colleague would say of time that the program's own functions spend in a package or module
// of Python that is known for it (opening files anew, unpacking, drawing), or in a line whose text
// is known for it (a list that is searched, an array that grows).
#pragma once

#include <string>

#include "analysis/lines/code_samples.h"

namespace batchlight::advice {

struct CodeHint {
  std::string text;             // a sentence or two with a blank behind them; "": nothing is known
  bool before_workers = false;  // it is better than the same work in the background
};

// Where packages of one kind, or lines of one kind, hold a third of the samples.
CodeHint HintFor(const Store& store, const SampledTime& time);

// By the text of the line that most of it is in alone.
CodeHint HintFor(const Store& store, const SampledFunction& function);

}  // namespace batchlight::advice
