// Parts of the nsys importer. Tables are read in parallel by jobs that know nothing of each other:
// each numbers the processes and threads it meets on its own; when all have ended the numbers are
// united (nsys_unite.h).
//
// nsys packs ids as [hardware 8 | VM 8 | pid 24 | tid 24]; a globalPid has tid 0.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ingest/nsys_table.h"
#include "store/store.h"

namespace batchlight::nsys {

inline constexpr int64_t kProcessMask = ~int64_t{0xffffff};
inline uint32_t PidOf(int64_t global) { return static_cast<uint32_t>(global >> 24) & 0xffffff; }
inline uint32_t TidOf(int64_t global) { return static_cast<uint32_t>(global) & 0xffffff; }

// Numbers global ids in the order in which they are met.
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
  // Fills store.strings. A missing table is no error: old exports without events have none.
  Status Load(const NsysDatabase& database, Store& store);
  // None for `absent` (the id was NULL); the text "[string 17 is missing]" is one per file.
  StringId Get(int64_t id) const;
  bool Has(int64_t id) const { return !Get(id).IsNone() && Get(id) != unknown_; }
  StringId unknown() const { return unknown_; }

 private:
  std::vector<StringId> dense_;
  std::unordered_map<int64_t, StringId> sparse_;
  StringId unknown_;
};

inline constexpr int64_t kNoString = INT64_MIN;  // pass as if_absent of an id column

// What one job reads with and leaves behind.
struct Load {
  const NsysDatabase* database = nullptr;
  const Strings* strings = nullptr;
  Store* store = nullptr;
  int schema_minor = 0;  // of EXPORT_SCHEMA_VERSION 3.<minor>.x, 0 unknown
  GlobalIds processes;
  GlobalIds threads;
  std::vector<std::vector<ThreadId>*> thread_columns;    // hold numbers of `threads`
  std::vector<std::vector<ProcessId>*> process_columns;  // hold numbers of `processes`
  std::vector<std::string> notes;                        // for store.reasons

  ThreadId Thread(NsysTable& rows, int column);
  // NULL gives None: the process is then the only one there is, if so.
  ProcessId Process(NsysTable& rows, int column);
  StringId String(NsysTable& rows, int column) const;
  // Says which of the columns asked for the file does not have.
  void NoteMissing(const NsysTable& rows);
};

// Start and end of a row, checked: rows that end before they start (or never) or lie beyond +-2^61
// ns are left out and counted. Done() turns the count into one note and passes the table's status
// on.
class Times {
 public:
  explicit Times(NsysTable& rows) : rows_(rows) {}
  // False: leave this row out. A missing end is an open one where that may be.
  bool Read(int start_column, int end_column, bool may_be_open = true);
  bool ReadInstant(int column);
  int64_t start() const { return start_; }
  int64_t end() const { return end_; }
  Status Done(Load& load);

 private:
  bool Bad();
  NsysTable& rows_;
  int64_t start_ = 0;
  int64_t end_ = 0;
  uint64_t bad_rows_ = 0;
  uint64_t first_bad_row_ = 0;
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
// The BATCHLIGHT_* tables of an export of ours (store/own_tables.h).
Status LoadOwnTables(Load& load);
// Their processes and threads, once those have rows: parents, ranks, exits, command lines.
Status CompleteProcesses(const NsysDatabase& database, const Strings& strings, Store& store);
// Session, machine, GPUs, contexts, streams. After the union.
Status LoadTargetInfo(Load& load);

}  // namespace batchlight::nsys
