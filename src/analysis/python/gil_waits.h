// Who waited for Python's GIL and who had it meanwhile, by looks from outside
// (store.python_samples). Free-threaded Python has none to wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

// That had the GIL while a thread waited, in this function.
struct GilHolder {
  ThreadId thread;  // None: not known
  StringId file;
  StringId function;
  uint32_t line = 0;  // where it was for most of that time
  int64_t ns = 0;
};

struct GilWaits {
  ThreadId thread;        // that waited
  int64_t looked_ns = 0;  // of its samples, of any kind
  int64_t waited_ns = 0;
  std::vector<GilHolder> holders;  // by falling time; they add up to waited_ns

  double Share() const { return looked_ns > 0 ? double(waited_ns) / double(looked_ns) : 0; }
};

// Of the threads that waited; by falling wait. Of samples, what lies in `within` counts.
std::vector<GilWaits> FindGilWaits(const Store& store, TimeSpan within = {INT64_MIN, INT64_MAX});

}  // namespace batchlight
