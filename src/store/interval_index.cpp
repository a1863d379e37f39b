#include "store/interval_index.h"

#include <algorithm>

namespace batchlight {

ThreadSpans::ThreadSpans(std::span<const ThreadId> thread_column) {
  const size_t count = thread_column.size();
  for (size_t begin = 0; begin < count;) {
    const ThreadId thread = thread_column[begin];
    // Gallops to the end of the thread: a few probes suffice for millions of rows.
    size_t step = 1;
    size_t low = begin;
    while (low + step < count && thread_column[low + step] == thread) {
      low += step;
      step *= 2;
    }
    const auto first = thread_column.begin() + static_cast<ptrdiff_t>(low);
    const auto last =
        thread_column.begin() + static_cast<ptrdiff_t>(std::min(count, low + step + 1));
    const size_t end = static_cast<size_t>(
        std::partition_point(first, last, [&](ThreadId id) { return id == thread; }) -
        thread_column.begin());
    if (!thread.IsNone()) {
      if (thread.row() >= rows_.size()) rows_.resize(thread.row() + 1);
      rows_[thread.row()] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
    }
    begin = end;
  }
}

IntervalIndex::IntervalIndex(std::span<const ThreadId> thread, std::span<const int64_t> start_ns,
                             std::span<const int64_t> end_ns,
                             const std::function<bool(uint32_t)>& skip)
    : start_(start_ns), end_(end_ns), spans_(thread), above_(start_ns.size(), kNoRow) {
  if (skip) skipped_.resize(start_ns.size());
  for (size_t i = 0; i < spans_.thread_count(); ++i) LinkThread(spans_.Of(ThreadId::At(i)), skip);
}

void IntervalIndex::LinkThread(ThreadSpans::Rows rows, const std::function<bool(uint32_t)>& skip) {
  uint32_t top = kNoRow;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    while (top != kNoRow && end_[top] <= start_[row]) top = above_[top];
    above_[row] = top;
    if (skip && skip(row)) {
      skipped_[row] = true;
    } else {
      top = row;
    }
  }
}

uint32_t IntervalIndex::Innermost(ThreadId thread, int64_t time_ns) const {
  const ThreadSpans::Rows rows = spans_.Of(thread);
  const auto first = start_.begin() + rows.begin;
  const auto last = start_.begin() + rows.end;
  const auto after = std::upper_bound(first, last, time_ns);
  if (after == first) return kNoRow;
  return InnermostFrom(static_cast<uint32_t>(after - start_.begin()) - 1, time_ns);
}

uint32_t IntervalIndex::Outer(uint32_t row, int64_t time_ns) const {
  do {
    row = above_[row];
  } while (row != kNoRow && end_[row] <= time_ns);
  return row;
}

}  // namespace batchlight
