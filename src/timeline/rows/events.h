// All events of a run under one numbering: the rows of the store's tables and of the tables that
// analyses derive. A ref is the first ref of its table plus the row. Tables begin at multiples of
// 65,536, so that the upper half of a ref tells the table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace batchlight::timeline {

inline constexpr uint32_t kNoRef = UINT32_MAX;

// Columns of somebody else, who must outlive this.
struct EventTable {
  std::string_view key;    // "kernels"
  std::string_view title;  // "Kernel"
  const int64_t* start_ns = nullptr;
  const int64_t* end_ns = nullptr;  // nullptr: its events have no length
  const StringId* name = nullptr;
  const StringId* name_of = nullptr;  // what `name` is shown as, by its row; nullptr: as it is
  // Rows whose time the rows of the table `parts` tell once more; nullptr: none.
  const uint8_t* in_parts = nullptr;
  std::string_view parts;
  // By row: the thread that the event, an idle time of a GPU, waited for; nullptr: none.
  const ThreadId* waited_for = nullptr;
  // Where the rows of each thread begin, ascending from 0: a call may lie within another of its
  // name. Empty: no event lies within another.
  std::vector<uint32_t> threads;
  // What begins then or later is told by tables of a newer reading, and what ends later ends there
  // in this one (tracks/join_timelines.h).
  int64_t until_ns = INT64_MAX;
  uint32_t rows = 0;
  uint32_t first_ref = 0;  // set by Events
};

// The end of the rows of the thread at this place of `threads`.
inline uint32_t EndOfThread(const EventTable& table, size_t thread) {
  return thread + 1 < table.threads.size() ? table.threads[thread + 1] : table.rows;
}

// The time in which at least one call of a name is open on its thread. Calls by thread, then start.
class OpenTime {
 public:
  // What the call adds to it.
  int64_t Add(uint32_t thread, int64_t start_ns, int64_t end_ns) {
    if (thread != thread_) until_ns_ = INT64_MIN;
    thread_ = thread;
    const int64_t added_ns = std::max<int64_t>(0, end_ns - std::max(start_ns, until_ns_));
    until_ns_ = std::max(until_ns_, end_ns);
    return added_ns;
  }

 private:
  uint32_t thread_ = UINT32_MAX;
  int64_t until_ns_ = INT64_MIN;
};

class Events {
 public:
  // Returns the ref of its first row. A table that the numbering has no room for is left out:
  // kNoRef.
  uint32_t Add(EventTable table);
  const std::vector<EventTable>& tables() const { return tables_; }
  bool IsRef(uint32_t ref) const;
  // `ref` must be one.
  const EventTable& TableOf(uint32_t ref) const { return tables_[table_of_block_[ref >> 16]]; }
  const EventTable* TableWithKey(std::string_view key) const;  // the first; nullptr: none
  // Of a run that was read in two each may have a table under a key: which one of those that tell
  // something a table is, 0 or 1, and the table by that.
  uint32_t ReadingOf(const EventTable& table) const;
  const EventTable* TableWithKey(std::string_view key, uint32_t reading) const;

  int64_t Start(uint32_t ref) const {
    const EventTable& table = TableOf(ref);
    return table.start_ns[ref - table.first_ref];
  }
  // Of an open event the end of the run. Never before its start.
  int64_t End(uint32_t ref) const {
    const EventTable& table = TableOf(ref);
    return EndOfRow(table, ref - table.first_ref);
  }
  int64_t EndOfRow(const EventTable& table, uint32_t row) const {
    if (table.end_ns == nullptr) return table.start_ns[row];
    const int64_t end_ns = table.end_ns[row] == kOpenEnd ? run_end_ns_ : table.end_ns[row];
    return std::max(table.start_ns[row], std::min(end_ns, table.until_ns));
  }
  bool IsOpen(uint32_t ref) const {
    const EventTable& table = TableOf(ref);
    return table.end_ns != nullptr && table.end_ns[ref - table.first_ref] == kOpenEnd &&
           table.until_ns == INT64_MAX;
  }
  uint32_t Name(uint32_t ref) const {
    const EventTable& table = TableOf(ref);
    return NameOfRow(table, ref - table.first_ref);
  }
  static uint32_t NameOfRow(const EventTable& table, uint32_t row) {
    const StringId name = table.name[row];
    if (table.name_of == nullptr || name.IsNone()) return name.value;
    return table.name_of[name.row()].value;
  }

  // The first start and the last end that is known, over all tables; open events end with it.
  void SetSpan();
  void SetSpan(int64_t start_ns, int64_t end_ns) {
    run_start_ns_ = start_ns;
    run_end_ns_ = end_ns;
  }
  int64_t run_start_ns() const { return run_start_ns_; }
  int64_t run_end_ns() const { return run_end_ns_; }

 private:
  std::vector<EventTable> tables_;
  std::vector<uint16_t> table_of_block_;  // by ref / 65,536
  int64_t run_start_ns_ = 0;
  int64_t run_end_ns_ = 0;
};

}  // namespace batchlight::timeline
