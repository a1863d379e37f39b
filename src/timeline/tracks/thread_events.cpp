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
    if (key == PhaseCallsTable::kName) phases_ref_ = table->first_ref;
  };
#define THREAD_TABLE(member, title, name) add(#member, store.member.thread);
#define INSTANT_TABLE(member, title, name) add(#member, store.member.thread);
#include "timeline/tracks/event_tables.def"
}

ThreadTables::RefRange ThreadTables::RowsOf(const Source& source, ThreadId thread) {
  const auto [begin, end] = std::equal_range(source.thread->begin(), source.thread->end(), thread);
  return {source.first_ref + static_cast<uint32_t>(begin - source.thread->begin()),
          source.first_ref + static_cast<uint32_t>(end - source.thread->begin())};
}

ThreadPart ThreadTables::PartOf(uint32_t ref) const {
  const NvtxRangesTable& ranges = timeline_.store().nvtx_ranges;
  if (ref >= ranges_ref_ && ref - ranges_ref_ < ranges.size()) {
    const bool start_end = ranges.style[ref - ranges_ref_] == NvtxStyle::kStartEnd;
    return start_end ? ThreadPart::kStartEndRanges : ThreadPart::kCalls;
  }
  const PhaseCallsTable& phases = timeline_.store().phase_calls;
  const bool import = ref >= phases_ref_ && ref - phases_ref_ < phases.size() &&
                      phases.phase[ref - phases_ref_] == Phase::kImport;
  return import ? ThreadPart::kImports : ThreadPart::kCalls;
}

std::vector<ThreadTables::Cursor> ThreadTables::CursorsOf(ThreadId thread) const {
  std::vector<Cursor> cursors;
  for (const Source& source : sources_) {
    const RefRange rows = RowsOf(source, thread);
    if (rows.at == rows.end) continue;
    cursors.push_back({.at = rows.at, .end = rows.end});
    cursors.back().Look(timeline_.events());
  }
  return cursors;
}

bool ThreadTables::Has(ThreadId thread, ThreadPart part) const {
  for (const Source& source : sources_) {
    const RefRange rows = RowsOf(source, thread);
    for (uint32_t ref = rows.at; ref < rows.end; ++ref) {
      if (PartOf(ref) == part) return true;
    }
  }
  return false;
}

}  // namespace batchlight::timeline
