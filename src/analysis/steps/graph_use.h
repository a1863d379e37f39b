// How a loop uses CUDA graphs, by the calls of one thread: when it captured them and when it
// replayed them.
#pragma once

#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

struct GraphUse {
  // From the beginning of a capture to its end, and the calls that make an executable graph of it.
  std::vector<TimeSpan> captures;
  std::vector<uint32_t> replays;  // rows of api_calls: launches of a whole graph, by start
};

// Open calls (kOpenEnd) are left out.
GraphUse FindGraphUse(const Store& store, ThreadId thread);

}  // namespace batchlight
