// What of a recording its reader asks for. What it does not ask for is skipped as it is decoded, so
// that it takes no memory; all else comes out the same.
#pragma once

#include <cstdint>

namespace batchlight {

struct RecordedParts {
  bool calls = true;   // operators, modules and phases
  bool ranges = true;  // NVTX: ranges, marks, their names and payloads
  // Ranges, operators and modules that end before, or begin after, may be left out; ns on the
  // recording's clock. Rows are numbered among those that are left.
  int64_t first_ns = INT64_MIN;
  int64_t last_ns = INT64_MAX;
  // Chunks that were finished before are not opened, so that a look at what is new of a run that
  // goes on costs as much as that. What only they tell is missing: calls that began in them, and
  // the counts of losses. Of each thread's first one the facts are read.
  int64_t since_ns = INT64_MIN;
};

}  // namespace batchlight
