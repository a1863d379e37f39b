// An answer of `view` decoded again, for tests: by the layout of docs/design/0016-timeline.md and
// not by the code that wrote it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::timeline {

struct DecodedView {
  bool fine = false;  // lengths and positions agree
  bool changed = false;
  int64_t from_ns = 0, to_ns = 0, step_ns = 0;
  uint32_t generation = 0;
  struct Row {
    uint32_t track, row, first, count;
  };
  std::vector<Row> rows;
  std::vector<uint32_t> start, width, ref, name, count;
  std::vector<uint8_t> busy, flags;
  std::vector<uint32_t> sample_start;
  std::vector<double> min, max, last;

  uint64_t TotalCount() const;
};

DecodedView DecodeView(std::string_view bytes);
// `is_counter`: of a track. As web/src/timeline/data/golden_test.ts says it of the same bytes.
std::string ViewText(std::string_view bytes, const std::function<bool(uint32_t)>& is_counter);

}  // namespace batchlight::timeline
