// What a picture needs: for each row that is asked for the items of a stretch of time, at most one
// for each step. And the bytes in which the page gets it (docs/design/0016-timeline.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct RowRange {
  uint32_t track = 0;
  uint32_t first_row = 0;
  uint32_t row_count = 0;
};

struct ViewRequest {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t step_ns = 1;
  std::vector<RowRange> rows;
  uint32_t generation = 0;
};

inline constexpr size_t kMostViewBytes = 3 << 20;

// Never longer than `most_bytes`, beyond what the rows' own headers need: first the range shrinks
// to its middle third, then the step grows.
std::string AnswerView(const Timeline& timeline, ViewRequest request,
                       size_t most_bytes = kMostViewBytes);

}  // namespace batchlight::timeline
