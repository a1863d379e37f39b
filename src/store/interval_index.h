// "Which call encloses this moment on that thread?" for a table that is ordered by (thread, start).
//
// Built in one pass: each row is linked to the latest earlier row of its thread that had not ended
// when it started. Every interval around a moment is on the chain that begins at the last row
// started by then. That holds even when intervals overlap without nesting (ranges of several
// domains), since a row leaves the chain only when it has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "store/ids.h"

namespace batchlight {

// Where the rows of each thread lie in a column that is ordered by thread.
class ThreadSpans {
 public:
  ThreadSpans() = default;
  explicit ThreadSpans(std::span<const ThreadId> thread_column);

  struct Rows {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool empty() const { return begin == end; }
    uint32_t size() const { return end - begin; }
  };
  Rows Of(ThreadId thread) const {
    return thread.row() < rows_.size() ? rows_[thread.row()] : Rows{};
  }
  size_t thread_count() const { return rows_.size(); }

 private:
  std::vector<Rows> rows_;  // by row of the threads table
};

class IntervalIndex {
 public:
  // The columns must outlive the index. Rows that `skip` names are never found; it may be empty.
  IntervalIndex(std::span<const ThreadId> thread, std::span<const int64_t> start_ns,
                std::span<const int64_t> end_ns, const std::function<bool(uint32_t)>& skip = {});

  // Of the rows with start <= time < end, the one that started last; kNoRow if none.
  uint32_t Innermost(ThreadId thread, int64_t time_ns) const;
  // The same for one who asks of a thread in about the order of time: `at` is the caller's, kNoRow
  // at first, one for each thread.
  uint32_t Innermost(ThreadId thread, int64_t time_ns, uint32_t& at) const;
  struct Look {
    uint32_t innermost = kNoRow;
    int64_t next_start_ns = 0;  // of the thread's rows, skipped ones too; kOpenEnd: none
  };
  // That, and when the next one starts after the moment.
  Look LookAt(ThreadId thread, int64_t time_ns) const;
  // The same, by the thread's last row with start <= time, for callers who go through the rows.
  uint32_t InnermostFrom(uint32_t last_begun, int64_t time_ns) const {
    const bool skipped = !skipped_.empty() && skipped_[last_begun];
    return !skipped && end_[last_begun] > time_ns ? last_begun : Outer(last_begun, time_ns);
  }
  // The next one outwards that also encloses the moment.
  uint32_t Outer(uint32_t row, int64_t time_ns) const;
  // The row around the start of `row`; kNoRow if none. May end before `row` does.
  uint32_t Above(uint32_t row) const { return above_[row]; }

 private:
  // The rows of a thread in stretches of equal length, so many that few begin in each: where to
  // look for a moment is computed, and searched for among these few only.
  struct Stretches {
    int64_t first_ns = 0;  // the first start and the last one
    int64_t last_ns = 0;
    double per_ns = 0;
    size_t begin = 0;  // of begins_; one more than there are stretches
  };
  static constexpr uint32_t kRowsOfStretch = 8;

  void LinkThread(ThreadSpans::Rows rows, const std::function<bool(uint32_t)>& skip);
  Stretches Divide(ThreadSpans::Rows rows);
  static size_t StretchAt(const Stretches& stretches, int64_t time_ns);
  // The thread's first row that starts after the moment; the end of its rows if none does.
  uint32_t FirstAfter(ThreadId thread, ThreadSpans::Rows rows, int64_t time_ns) const;

  std::span<const int64_t> start_;
  std::span<const int64_t> end_;
  ThreadSpans spans_;
  std::vector<Stretches> stretches_;  // by thread
  std::vector<uint32_t> begins_;      // of each stretch: its first row
  std::vector<uint32_t> above_;       // skipped rows: the row that would be above them
  std::vector<bool> skipped_;         // empty: none
};

}  // namespace batchlight
