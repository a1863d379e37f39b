#include "store/interval_index.h"

#include <algorithm>

#include "store/tables.h"

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
  begins_.reserve(start_ns.size() / kRowsOfStretch + 2 * spans_.thread_count());
  for (size_t i = 0; i < spans_.thread_count(); ++i) {
    const ThreadSpans::Rows rows = spans_.Of(ThreadId::At(i));
    LinkThread(rows, skip);
    stretches_.push_back(Divide(rows));
  }
}

IntervalIndex::Stretches IntervalIndex::Divide(ThreadSpans::Rows rows) {
  Stretches stretches{.begin = begins_.size()};
  if (rows.empty()) return stretches;
  const size_t count = rows.size() / kRowsOfStretch + 1;
  stretches.first_ns = start_[rows.begin];
  stretches.last_ns = start_[rows.end - 1];
  const double length_ns = double(stretches.last_ns) - double(stretches.first_ns);
  stretches.per_ns = length_ns > 0 ? double(count - 1) / length_ns : 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const size_t stretch = stretches.begin + StretchAt(stretches, start_[row]);
    while (begins_.size() <= stretch) begins_.push_back(row);
  }
  begins_.push_back(rows.end);
  return stretches;
}

// Grows with the moment, whatever is lost to rounding: what starts in an earlier stretch starts
// earlier.
size_t IntervalIndex::StretchAt(const Stretches& stretches, int64_t time_ns) {
  return static_cast<size_t>((double(time_ns) - double(stretches.first_ns)) * stretches.per_ns);
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

uint32_t IntervalIndex::FirstAfter(ThreadId thread, ThreadSpans::Rows rows, int64_t time_ns) const {
  if (rows.empty()) return rows.end;
  const Stretches& stretches = stretches_[thread.row()];
  if (time_ns < stretches.first_ns) return rows.begin;
  if (time_ns >= stretches.last_ns) return rows.end;
  const size_t stretch = stretches.begin + StretchAt(stretches, time_ns);
  // Without branches: which way to go is anyone's guess.
  uint32_t row = begins_[stretch];
  for (uint32_t count = begins_[stretch + 1] - row; count > 0;) {
    const uint32_t half = (count + 1) / 2;
    row += start_[row + half - 1] <= time_ns ? half : 0;
    count -= half;
  }
  return row;
}

uint32_t IntervalIndex::Innermost(ThreadId thread, int64_t time_ns) const {
  const ThreadSpans::Rows rows = spans_.Of(thread);
  const uint32_t after = FirstAfter(thread, rows, time_ns);
  return after == rows.begin ? kNoRow : InnermostFrom(after - 1, time_ns);
}

uint32_t IntervalIndex::Innermost(ThreadId thread, int64_t time_ns, uint32_t& at) const {
  constexpr int kNear = 16;
  const ThreadSpans::Rows rows = spans_.Of(thread);
  if (rows.empty()) return kNoRow;
  const bool is_before = at != kNoRow && (at == rows.begin || start_[at - 1] <= time_ns);
  int left = is_before ? kNear : 0;
  while (left > 0 && at < rows.end && start_[at] <= time_ns) {
    ++at;
    --left;
  }
  if (left == 0) at = FirstAfter(thread, rows, time_ns);
  return at == rows.begin ? kNoRow : InnermostFrom(at - 1, time_ns);
}

IntervalIndex::Look IntervalIndex::LookAt(ThreadId thread, int64_t time_ns) const {
  const ThreadSpans::Rows rows = spans_.Of(thread);
  const uint32_t after = FirstAfter(thread, rows, time_ns);
  return {.innermost = after == rows.begin ? kNoRow : InnermostFrom(after - 1, time_ns),
          .next_start_ns = after == rows.end ? kOpenEnd : start_[after]};
}

uint32_t IntervalIndex::Outer(uint32_t row, int64_t time_ns) const {
  do {
    row = above_[row];
  } while (row != kNoRow && end_[row] <= time_ns);
  return row;
}

}  // namespace batchlight
