// The columns of an answer of `view`, while it is put together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/rows/counter_row.h"
#include "timeline/rows/event_row.h"

namespace batchlight::timeline {

class ViewColumns {
 public:
  static constexpr size_t kItemBytes = 22;

  // All multiples of the step.
  ViewColumns(int64_t from_ns, int64_t to_ns, int64_t step_ns)
      : from_ns_(from_ns), to_ns_(to_ns), step_ns_(step_ns) {}

  void BeginRow(uint32_t track, uint32_t row);
  // One of them between BeginRow and EndRow; false: more than `most_bytes` of items and samples.
  bool AddItems(const Events& events, const EventRow& row, size_t most_bytes);
  bool AddSamples(const CounterRow& row, size_t most_bytes);
  void EndRow();

  // Little-endian, as docs/design/0016-timeline.md lays it out.
  std::string Encode(bool changed, uint32_t generation) const;

 private:
  struct Row {
    uint32_t track;
    uint32_t row;
    uint32_t first;
    uint32_t count;
  };

  uint32_t StepOf(int64_t time_ns) const {
    return static_cast<uint32_t>((time_ns - from_ns_) / step_ns_);
  }

  int64_t from_ns_;
  int64_t to_ns_;
  int64_t step_ns_;
  std::vector<Row> rows_;
  bool counter_ = false;  // the row that has begun
  std::vector<uint32_t> start_, width_, ref_, name_, count_;
  std::vector<uint8_t> busy_, flags_;
  std::vector<uint32_t> sample_start_;
  std::vector<double> min_, max_, last_;
};

}  // namespace batchlight::timeline
