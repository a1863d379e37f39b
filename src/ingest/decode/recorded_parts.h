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
};

}  // namespace batchlight
