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
    std::vector<Cursor> cursors = CursorsOf(thread, part);
    while (!cursors.empty()) {
      Cursor* best = cursors.data();
      for (Cursor& cursor : std::span(cursors).subspan(1)) {
        if (cursor.ComesBefore(*best)) best = &cursor;
      }
      // The table's next ones too, as long as they come before all others.
      const Cursor* next = nullptr;
      for (const Cursor& cursor : cursors) {
        if (&cursor == best) continue;
        if (next == nullptr || cursor.ComesBefore(*next)) next = &cursor;
      }
      bool more = true;
      do {
        if (!best->is_mixed || PartOf(best->ref()) == part) {
          visit(best->ref(), best->start_ns, best->end_ns);
        }
        more = best->Next(timeline_.events());
      } while (more && (next == nullptr || best->ComesBefore(*next) ||
                        (best < next && !next->ComesBefore(*best))));
      if (!more) cursors.erase(cursors.begin() + (best - cursors.data()));
    }
  }
  bool Has(ThreadId thread, ThreadPart part) const;

 private:
  struct Source {
    const std::vector<ThreadId>* thread;  // ordered
    const EventTable* table;
    ThreadPart other = ThreadPart::kCalls;  // that some of its events are of, not kCalls
  };
  struct Rows {
    uint32_t begin;
    uint32_t end;
  };
  // A table's next event of the thread.
  struct Cursor {
    const EventTable* table;
    uint32_t row;
    uint32_t end;
    bool is_mixed;  // events of other parts are among them
    int64_t start_ns = 0;
    int64_t end_ns = 0;

    uint32_t ref() const { return table->first_ref + row; }
    bool ComesBefore(const Cursor& other) const {
      return start_ns < other.start_ns || (start_ns == other.start_ns && end_ns > other.end_ns);
    }
    void Look(const Events& events) {
      start_ns = table->start_ns[row];
      end_ns = events.EndOfRow(*table, row);
    }
    bool Next(const Events& events) {
      if (++row == end) return false;
      Look(events);
      return true;
    }
  };
  static Rows RowsOf(const Source& source, ThreadId thread);
  std::vector<Cursor> CursorsOf(ThreadId thread, ThreadPart part) const;
  static bool MayHave(const Source& source, ThreadPart part) {
    return part == ThreadPart::kCalls || part == source.other;
  }
  ThreadPart PartOf(uint32_t ref) const;

  const Timeline& timeline_;
  std::vector<Source> sources_;
  uint32_t ranges_ref_ = kNoRef;  // first of nvtx_ranges
  uint32_t phases_ref_ = kNoRef;  // first of phase_calls
};

}  // namespace batchlight::timeline
