// Which call caused what the GPU did: by process and correlation id.
#pragma once

#include <cstdint>
#include <vector>

#include "store/flat_map.h"
#include "store/store.h"

namespace batchlight {

// The first row of api_calls with a process and correlation id.
class CallIndex {
 public:
  CallIndex() = default;
  explicit CallIndex(const Store& store);

  // None for id 0, for no process, and where there is no such call.
  ApiCallId Find(ProcessId process, uint32_t correlation) const {
    if (process.IsNone() || process.row() >= spans_.size()) return {};
    const Span& span = spans_[process.row()];
    if (correlation < span.first || correlation > span.last) return {};
    if (!span.rows.empty()) return span.rows[correlation - span.first];
    return ApiCallId{span.sparse.Find(correlation)};  // kAbsent is the value of None
  }

 private:
  // Ids of a process count up from 1, so a list; a map where few ids lie far apart.
  struct Span {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    size_t count = 0;
    std::vector<ApiCallId> rows;
    FlatMap sparse;
  };
  std::vector<Span> spans_;  // by process
};

// Sets `api_call` in every table that has it.
void TieToCalls(const CallIndex& index, Store& store);

// Events of which the device told no time (start_ns == kOpenEnd) happened when the call was made,
// or at 0 without one. Then puts them in order.
void DateEvents(const CallIndex& index, Store& store);

}  // namespace batchlight
