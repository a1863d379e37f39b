// Who waited for locks, conditions and semaphores, and for whom.
#include <string>

#include "analysis/lines/call_lines.h"
#include "analysis/lines/source_place.h"
#include "analysis/lines/stack_lines.h"
#include "analysis/os/lock_waits.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/os_tables.h"

namespace batchlight {
namespace {

struct LockRow {
  const Store& store;
  const LockWaits& waits;
};

std::string NameOfThread(const Store& store, ThreadId thread) {
  return thread.IsNone() ? std::string()
                         : std::string(store.Text(store.threads.name[thread.row()]));
}

Cell NumberOfThread(const Store& store, ThreadId thread) {
  return thread.IsNone() ? Cell{} : NumberCell(store.threads.tid[thread.row()]);
}

std::string LineText(const Store& store, PythonFrameId line) {
  if (line.IsNone()) return {};
  const PythonFramesRow frame = store.python_frames.Row(line.row());
  return std::string(ShortFile(store.Text(frame.file))) + ':' + std::to_string(frame.line);
}

const Columns<LockRow>& LockColumns() {
  using R = LockRow;
  static const Columns<R> columns = {
      {TextColumn("thread", "Thread", "That waited: its name"),
       [](const R& row) { return NameOfThread(row.store, row.waits.thread); }},
      {CountColumn("pid", "PID", "Its process"),
       [](const R& row) {
         const ProcessId process = row.store.ProcessOf(row.waits.thread);
         return process.IsNone() ? Cell{} : NumberCell(row.store.processes.pid[process.row()]);
       }},
      {CountColumn("tid", "TID", "Number that the operating system gave it"),
       [](const R& row) { return NumberOfThread(row.store, row.waits.thread); }},
      {TextColumn("call", "Call", "Function of the C library that waited"),
       [](const R& row) { return std::string(row.store.Text(row.waits.call)); }},
      {CountColumn("waits", "Waits", "Of --osrt-threshold (1 us) and longer"),
       [](const R& row) { return NumberCell(row.waits.waits); }},
      {TimeColumn("total", "Total", "In these calls"),
       [](const R& row) { return Cell{row.waits.total_ns}; }},
      {TimeColumn("longest", "Longest", "The longest of them"),
       [](const R& row) { return Cell{row.waits.longest_ns}; }},
      {TextColumn("line", "Line", "Of Python that waited; of waits of 5 ms and longer by samples"),
       [](const R& row) { return LineText(row.store, row.waits.line); }},
      {TextColumn("released_by", "Released By",
                  "The thread that held the lock last, or signalled; empty: not seen"),
       [](const R& row) { return NameOfThread(row.store, row.waits.released_by); }},
      {CountColumn("releaser_tid", "Releaser TID", "Its number"),
       [](const R& row) { return NumberOfThread(row.store, row.waits.released_by); }},
      {TextColumn("their_line", "Its Line",
                  "Of Python where that one was most of the time, by samples"),
       [](const R& row) { return LineText(row.store, row.waits.their_line); }}};
  return columns;
}

}  // namespace

ResultTable MakeLockWaitsTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  ResultTable table = EmptyTable(
      "lock_waits", "Waiting for locks and signals, by who released them", LockColumns());
  const StackLines lines(store);
  const auto line_of = [&](PythonStackId stack) { return lines.Of(stack).frame; };
  for (const LockWaits& waits : SumLockWaits(store, PythonStacksOfOsCalls(store), line_of)) {
    AddRow(table, LockColumns(), LockRow{store, waits});
  }
  return table;
}

}  // namespace batchlight
