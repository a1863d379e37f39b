// The events of one thread over all tables, by start.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "timeline/index/timeline.h"

namespace batchlight::timeline {

// The events of a thread that have rows of their own.
enum class ThreadPart : uint8_t {
  kCalls,
  kStartEndRanges,  // do not nest
  kImports,         // nest deep, at the start, and would leave the calls' rows empty from then on
};

class ThreadTables {
 public:
  explicit ThreadTables(const Timeline& timeline);

  // visit(ref, start_ns, end_ns), by start, then longest, then the order of the tables. `thread`
  // may be None: events on no thread that is known.
  template <typename Visitor>
  void Visit(ThreadId thread, ThreadPart part, Visitor&& visit) const {
    std::vector<Cursor> cursors = CursorsOf(thread);
    while (!cursors.empty()) {
      Cursor* best = cursors.data();
      for (Cursor& cursor : std::span(cursors).subspan(1)) {
        if (cursor.ComesBefore(*best)) best = &cursor;
      }
      if (PartOf(best->at) == part) visit(best->at, best->start_ns, best->end_ns);
      if (!best->Next(timeline_.events())) cursors.erase(cursors.begin() + (best - cursors.data()));
    }
  }
  bool Has(ThreadId thread, ThreadPart part) const;

 private:
  struct Source {
    const std::vector<ThreadId>* thread;  // ordered
    uint32_t first_ref;
  };
  struct RefRange {
    uint32_t at;
    uint32_t end;
  };
  // A table's next event of the thread.
  struct Cursor {
    uint32_t at;  // ref
    uint32_t end;
    int64_t start_ns = 0;
    int64_t end_ns = 0;

    bool ComesBefore(const Cursor& other) const {
      return start_ns < other.start_ns || (start_ns == other.start_ns && end_ns > other.end_ns);
    }
    void Look(const Events& events) {
      start_ns = events.Start(at);
      end_ns = events.End(at);
    }
    bool Next(const Events& events) {
      if (++at == end) return false;
      Look(events);
      return true;
    }
  };
  static RefRange RowsOf(const Source& source, ThreadId thread);
  std::vector<Cursor> CursorsOf(ThreadId thread) const;
  ThreadPart PartOf(uint32_t ref) const;

  const Timeline& timeline_;
  std::vector<Source> sources_;
  uint32_t ranges_ref_ = kNoRef;  // first of nvtx_ranges
  uint32_t phases_ref_ = kNoRef;  // first of phase_calls
};

}  // namespace batchlight::timeline
