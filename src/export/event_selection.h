// Which part of a recording is exported, and on which clock: --tables, --times, --ts-shift,
// --ts-normalize.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "export/name_pattern.h"
#include "store/tables.h"

namespace batchlight {

// A stretch of time. An edge is strict unless marked with ':': events that cross it are left out.
struct TimeRange {
  int64_t start_ns = INT64_MIN;
  int64_t end_ns = INT64_MAX;
  bool may_cross_start = false;
  bool may_cross_end = false;
};

// Foreign files may hold any time, so the sum is clamped to stay within 64 bits, below kOpenEnd.
inline int64_t AddTimes(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? kOpenEnd - 1 : INT64_MIN;
}

class EventSelection {
 public:
  // "[:][start]/[end][:]", comma separated. Errors: kUsage.
  Status SetTimes(std::string_view text);
  // Comma separated POSIX basic regular expressions, matched anywhere in a table's name, ours or
  // nsys's, without regard to case. Errors: kUsage, also for an expression that matches no possible
  // table.
  Status SetTables(std::string_view text);
  void SetShift(int64_t ns) { shift_ns_ = ns; }

  // Selects only what these processes did (by row), and what belongs to none. `process_of_thread`
  // is the column of the store, which outlives this.
  void KeepProcesses(std::vector<bool> kept, const std::vector<ProcessId>& process_of_thread);

  bool HasTable(std::string_view name) const;
  bool HasProcess(ProcessId process) const {
    return kept_.empty() || process.IsNone() || kept_[process.row()];
  }
  bool HasThread(ThreadId thread) const {
    return kept_.empty() || thread.IsNone() || HasProcess((*process_of_thread_)[thread.row()]);
  }
  // `end_ns` may be kOpenEnd. Times before the shift.
  bool HasTime(int64_t start_ns, int64_t end_ns) const;
  // Whether any stretch touches this time.
  bool MeetsTimes(int64_t start_ns, int64_t end_ns) const;
  // From the first to the last stretch. Times before the shift.
  TimeRange AllTimes() const;
  int64_t Shifted(int64_t ns) const { return ns == kOpenEnd ? ns : AddTimes(ns, shift_ns_); }
  int64_t shift_ns() const { return shift_ns_; }
  // Empty: all. Times before the shift.
  const std::vector<TimeRange>& times() const { return times_; }
  const std::string& tables_text() const { return tables_text_; }
  const std::string& times_text() const { return times_text_; }

 private:
  std::vector<NamePattern> tables_;
  std::vector<TimeRange> times_;
  std::vector<bool> kept_;  // by process row; empty: all
  const std::vector<ProcessId>* process_of_thread_ = nullptr;
  int64_t shift_ns_ = 0;
  std::string tables_text_;
  std::string times_text_;
};

}  // namespace batchlight
