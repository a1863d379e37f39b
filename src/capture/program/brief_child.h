// A program that helps with a recording and may not hold it up: it is ended when it takes too long
// or says too much.
#pragma once

#include <cstddef>

#include "base/child.h"

namespace batchlight::capture {

struct BriefLimits {
  double seconds = 0;
  size_t bytes = 0;  // of its standard output
};

struct BriefOutput {
  ChildOutput child;
  bool was_ended = false;  // by a limit: the text is not whole
};
BriefOutput RunBriefly(ChildSpec spec, const BriefLimits& limits);

}  // namespace batchlight::capture
