// Parts of the nsys importer. Tables are read in parallel by jobs that know nothing of each other.
// Each numbers the processes and threads it meets by itself; when all jobs have ended, the numbers
// are unified (nsys_unite.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ingest/nsys/nsys_table.h"
#include "nsys/global_ids.h"
#include "store/store.h"
#include "store/value_limits.h"

namespace batchlight::nsys {

// Numbers global ids in the order in which they are first seen.
class GlobalIds {
 public:
  uint32_t Number(int64_t global);
  const std::vector<int64_t>& all() const { return all_; }

 private:
  int64_t last_ = -1;
  uint32_t last_number_ = UINT32_MAX;
  std::unordered_map<int64_t, uint32_t> numbers_;
  std::vector<int64_t> all_;
};

// StringIds of the file. Fixed once loaded, so that jobs may share it.
class Strings {
 public:
  // Fills store.strings. A missing table is not an error: old exports without events have none.
  Status Load(const NsysDatabase& database, Store& store);
  // None for `absent` (the id was NULL). One text, "[string 17 is missing]", stands for every
  // missing string of a file.
  StringId Get(int64_t id) const;
  bool Has(int64_t id) const { return !Get(id).IsNone() && Get(id) != unknown_; }
  StringId unknown() const { return unknown_; }

 private:
  std::vector<StringId> dense_;
  std::unordered_map<int64_t, StringId> sparse_;
  StringId unknown_;
};

inline constexpr int64_t kNoString = INT64_MIN;  // pass as if_absent of an id column

// Rows with one fault: how many, and which is the first.
class FaultyRows {
 public:
  void Add(const NsysTable& rows) {
    if (count_++ == 0) first_ = rows.Where();
  }
  // Appends "table T: N row(s) <what> (first: rowid R)", if there are any, and starts anew.
  void Note(std::string_view table, std::string_view what, std::vector<std::string>& notes);

 private:
  uint64_t count_ = 0;
  std::string first_;
};

// What one job reads with and leaves behind.
struct Load {
  const NsysDatabase* database = nullptr;
  const Strings* strings = nullptr;
  Store* store = nullptr;
  int schema_minor = 0;        // of EXPORT_SCHEMA_VERSION 3.<minor>.x, 0 unknown
  bool doubled_calls = false;  // keep calls that the file holds twice
  GlobalIds processes;
  GlobalIds threads;
  std::vector<std::vector<ThreadId>*> thread_columns;    // hold numbers of `threads`
  std::vector<std::vector<ProcessId>*> process_columns;  // hold numbers of `processes`
  std::vector<std::string> notes;                        // for store.reasons
  FaultyRows dangling_strings;  // this and the next: of the table being read
  FaultyRows narrow_numbers;

  // NULL gives None. A process that is None becomes the only one there is, if there is just one.
  ThreadId Thread(std::optional<int64_t> global);
  ProcessId Process(std::optional<int64_t> global);
  StringId String(std::optional<int64_t> id, const NsysTable& rows);
  // Of a column.
  ThreadId Thread(NsysTable& rows, int column);
  ProcessId Process(NsysTable& rows, int column);
  StringId String(NsysTable& rows, int column);
  // Notes the impossible values in the rows of a table, once all of them are read.
  void NoteFaults(const NsysTable& rows);
  // Notes which of the requested columns the file lacks.
  void NoteMissing(const NsysTable& rows);
};

// Checks the time and size of rows. Rows without a start, with an end before their start, or with
// an impossible time or size (value_limits.h) are left out, and each kind is counted separately.
// Done() turns the counts of a table into notes and passes its status on.
class RowChecks {
 public:
  explicit RowChecks(NsysTable& rows) : rows_(rows) {}
  // False: leave this row out. Where a row may be open, a missing end makes it open.
  bool ReadTimes(int start_column, int end_column, bool may_be_open = true);
  // Where a row may be open, a missing time is kOpenEnd.
  bool ReadInstant(int column, bool may_lack = false);
  // For a row whose time has been read.
  bool TakeBytes(int64_t bytes);
  int64_t start() const { return start_; }
  int64_t end() const { return end_; }
  Status Done(Load& load);

 private:
  bool ReadStart(int column);
  bool Bad(FaultyRows& fault);

  NsysTable& rows_;
  int64_t start_ = 0;
  int64_t end_ = 0;
  LimitedSum durations_ = SumOfDurations();
  LimitedSum bytes_ = SumOfBytes();
  FaultyRows without_time_;
  FaultyRows backward_;
  FaultyRows impossible_time_;
  FaultyRows impossible_size_;
  FaultyRows early_;  // kept
};

// The jobs. Errors are those of NsysTable.
Status LoadApiCalls(Load& load);
Status LoadKernels(Load& load);
Status LoadNvtx(Load& load);  // interns strings: at most one job that does runs at a time
Status LoadMemoryOperations(Load& load);
Status LoadGpuEvents(Load& load);  // waits, events, graphs, allocations, overhead
Status LoadOsCalls(Load& load);
Status LoadOtherRuntimes(Load& load);  // interns strings
Status LoadUnifiedMemory(Load& load);
// The BATCHLIGHT_* tables of an export of ours (nsys/own_tables.h).
Status LoadOwnTables(Load& load);
Status LoadGpuMetrics(Load& load);  // after LoadOwnTables; interns strings
// Threads of an export of ours, also those without events: the order of threads, and with it of all
// rows, is then that of the recording. Empty: it is none.
struct OwnThread {
  int64_t global;  // id
  int64_t start_ns;
  int64_t end_ns;
};
Result<std::vector<OwnThread>> ReadOwnThreads(const NsysDatabase& database, const Strings& strings,
                                              Store& store);
// What these tables say of processes and threads, once those have rows: parents, ranks, exits,
// command lines.
Status CompleteProcesses(const NsysDatabase& database, const Strings& strings, Store& store);
// Session, machine, GPUs, contexts, streams. Runs after the numbers are unified.
Status LoadTargetInfo(Load& load);

}  // namespace batchlight::nsys
