#include "timeline/tracks/thread_events.h"

#include <algorithm>

namespace batchlight::timeline {

ThreadTables::ThreadTables(const Timeline& timeline) : timeline_(timeline) {
  const Store& store = timeline.store();
  const auto add = [&](std::string_view key, const std::vector<ThreadId>& thread) {
    const EventTable* table = timeline.events().TableWithKey(key);
    if (table == nullptr || table->rows == 0) return;
    sources_.push_back({&thread, table});
    if (key == NvtxRangesTable::kName) {
      ranges_ref_ = table->first_ref;
      sources_.back().other = ThreadPart::kStartEndRanges;
    }
    if (key == PhaseCallsTable::kName) {
      phases_ref_ = table->first_ref;
      sources_.back().other = ThreadPart::kImports;
    }
  };
#define THREAD_TABLE(member, title, name) add(#member, store.member.thread);
#define INSTANT_TABLE(member, title, name) add(#member, store.member.thread);
#include "timeline/tracks/event_tables.def"
}

ThreadTables::Rows ThreadTables::RowsOf(const Source& source, ThreadId thread) {
  const auto [begin, end] = std::equal_range(source.thread->begin(), source.thread->end(), thread);
  return {static_cast<uint32_t>(begin - source.thread->begin()),
          static_cast<uint32_t>(end - source.thread->begin())};
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

std::vector<ThreadTables::Cursor> ThreadTables::CursorsOf(ThreadId thread, ThreadPart part) const {
  std::vector<Cursor> cursors;
  for (const Source& source : sources_) {
    const Rows rows = RowsOf(source, thread);
    if (rows.begin == rows.end || !MayHave(source, part)) continue;
    cursors.push_back({.table = source.table,
                       .row = rows.begin,
                       .end = rows.end,
                       .is_mixed = source.other != ThreadPart::kCalls});
    cursors.back().Look(timeline_.events());
  }
  return cursors;
}

bool ThreadTables::Has(ThreadId thread, ThreadPart part) const {
  for (const Source& source : sources_) {
    const Rows rows = RowsOf(source, thread);
    if (!MayHave(source, part)) continue;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      if (PartOf(source.table->first_ref + row) == part) return true;
    }
  }
  return false;
}

}  // namespace batchlight::timeline
