#include "timeline/tracks/thread_events.h"

#include <algorithm>

namespace batchlight::timeline {

ThreadTables::ThreadTables(const Timeline& timeline) : timeline_(timeline) {
  const Store& store = timeline.store();
  const auto add = [&](std::string_view key, const std::vector<ThreadId>& thread) {
    const EventTable* table = timeline.events().TableWithKey(key);
    if (table == nullptr || table->rows == 0) return;
    sources_.push_back({&thread, table->first_ref});
    if (key == NvtxRangesTable::kName) ranges_ref_ = table->first_ref;
  };
#define THREAD_TABLE(member, title, name) add(#member, store.member.thread);
#define INSTANT_TABLE(member, title, name) add(#member, store.member.thread);
#include "timeline/tracks/event_tables.def"
}

ThreadTables::Cursor ThreadTables::RowsOf(const Source& source, ThreadId thread) {
  const auto [begin, end] = std::equal_range(source.thread->begin(), source.thread->end(), thread);
  return {source.first_ref + static_cast<uint32_t>(begin - source.thread->begin()),
          source.first_ref + static_cast<uint32_t>(end - source.thread->begin())};
}

bool ThreadTables::IsStartEnd(uint32_t ref) const {
  const NvtxRangesTable& ranges = timeline_.store().nvtx_ranges;
  return ref >= ranges_ref_ && ref - ranges_ref_ < ranges.size() &&
         ranges.style[ref - ranges_ref_] == NvtxStyle::kStartEnd;
}

std::vector<uint32_t> ThreadTables::CallsOf(ThreadId thread) const {
  const Events& events = timeline_.events();
  std::vector<Cursor> cursors;
  size_t count = 0;
  for (const Source& source : sources_) {
    const Cursor rows = RowsOf(source, thread);
    if (rows.at == rows.end) continue;
    cursors.push_back(rows);
    count += rows.end - rows.at;
  }
  std::vector<uint32_t> refs;
  refs.reserve(count);
  const auto comes_before = [&](uint32_t a, uint32_t b) {
    const int64_t a_ns = events.Start(a);
    const int64_t b_ns = events.Start(b);
    return a_ns < b_ns || (a_ns == b_ns && events.End(a) > events.End(b));
  };
  while (!cursors.empty()) {
    size_t best = 0;
    for (size_t i = 1; i < cursors.size(); ++i) {
      if (comes_before(cursors[i].at, cursors[best].at)) best = i;
    }
    const uint32_t ref = cursors[best].at++;
    if (!IsStartEnd(ref)) refs.push_back(ref);
    if (cursors[best].at == cursors[best].end) {
      cursors.erase(cursors.begin() + static_cast<ptrdiff_t>(best));
    }
  }
  return refs;
}

std::vector<uint32_t> ThreadTables::StartEndRangesOf(ThreadId thread) const {
  std::vector<uint32_t> refs;
  for (const Source& source : sources_) {
    if (source.first_ref != ranges_ref_) continue;
    const Cursor rows = RowsOf(source, thread);
    for (uint32_t ref = rows.at; ref < rows.end; ++ref) {
      if (IsStartEnd(ref)) refs.push_back(ref);
    }
  }
  return refs;
}

bool ThreadTables::HasCalls(ThreadId thread) const {
  for (const Source& source : sources_) {
    const Cursor rows = RowsOf(source, thread);
    if (rows.at == rows.end) continue;
    if (source.first_ref != ranges_ref_) return true;
    for (uint32_t ref = rows.at; ref < rows.end; ++ref) {
      if (!IsStartEnd(ref)) return true;
    }
  }
  return false;
}

bool ThreadTables::HasStartEndRanges(ThreadId thread) const {
  return !StartEndRangesOf(thread).empty();
}

}  // namespace batchlight::timeline
