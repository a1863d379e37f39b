// Finds the call that caused a piece of GPU work, by process and correlation id.
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

  // None for id 0, without a process, or if there is no such call.
  ApiCallId Find(ProcessId process, uint32_t correlation) const {
    if (process.IsNone() || process.row() >= spans_.size()) return {};
    const Span& span = spans_[process.row()];
    if (correlation < span.first || correlation > span.last) return {};
    if (!span.rows.empty()) return span.rows[correlation - span.first];
    return ApiCallId{span.sparse.Find(correlation)};  // kAbsent is the value of None
  }

 private:
  // A process's ids count up from 1, so they fit a list; a map is used if few ids lie far apart.
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

// In tables of kDatedByCall, rows without a time from the device (start_ns == kOpenEnd) get the
// time of their call, or 0 without one. Then puts them in order.
void DateByCalls(const CallIndex& index, Store& store);

}  // namespace batchlight
