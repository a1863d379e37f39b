// What of a recording its reader asks for. What it does not ask for is skipped as it is decoded, so
// that it takes no memory; all else comes out the same.
#pragma once

namespace batchlight {

struct RecordedParts {
  bool calls = true;   // operators, modules and phases
  bool ranges = true;  // NVTX: ranges, marks, their names and payloads
};

}  // namespace batchlight
