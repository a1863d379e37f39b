// Who waited for Python's GIL, and who had it meanwhile.
#include <string>

#include "analysis/python/gil_waits.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

struct GilRow {
  const Store& store;
  ThreadId waiter;
  int64_t looked_ns;  // of the waiter
  GilHolder holder;
};

std::string ThreadName(const Store& store, ThreadId thread) {
  return thread.IsNone() ? std::string()
                         : std::string(store.Text(store.threads.name[thread.row()]));
}

Cell TidCell(const Store& store, ThreadId thread) {
  return thread.IsNone() ? Cell{} : NumberCell(store.threads.tid[thread.row()]);
}

const Columns<GilRow>& GilColumns() {
  using R = GilRow;
  static const Columns<R> columns = {
      {TextColumn("thread", "Thread", "That waited: its name"),
       [](const R& row) { return ThreadName(row.store, row.waiter); }},
      {CountColumn("pid", "PID", "Its process"),
       [](const R& row) {
         const ProcessId process = row.store.ProcessOf(row.waiter);
         return process.IsNone() ? Cell{} : NumberCell(row.store.processes.pid[process.row()]);
       }},
      {CountColumn("tid", "TID", "Number that the operating system gave it"),
       [](const R& row) { return TidCell(row.store, row.waiter); }},
      {TimeColumn("waited", "Waited", "For the GIL, while this one had it"),
       [](const R& row) { return Cell{row.holder.ns}; }},
      {PercentColumn("waited_share", "Waited %",
                     "Of the time that the waiting thread was looked at"),
       [](const R& row) { return Cell{100 * double(row.holder.ns) / double(row.looked_ns)}; }},
      {TextColumn("holder", "Holder", "The thread that had it: its name"),
       [](const R& row) { return ThreadName(row.store, row.holder.thread); }},
      {CountColumn("holder_tid", "Holder TID", "Empty: nobody had it at the moment of looking"),
       [](const R& row) { return TidCell(row.store, row.holder.thread); }},
      {TextColumn("function", "Function", "That the holder was in"),
       [](const R& row) { return std::string(row.store.Text(row.holder.function)); }},
      {TextColumn("file", "File", "As Python names it"),
       [](const R& row) { return std::string(row.store.Text(row.holder.file)); }},
      {CountColumn("line", "Line", "Where it was most of that time"), [](const R& row) {
         return row.holder.line == 0 ? Cell{} : NumberCell(uint64_t{row.holder.line});
       }}};
  return columns;
}

}  // namespace

ResultTable MakePythonGilTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("python_gil", "Waiting for the GIL, by who had it", GilColumns());
  for (const GilWaits& waits : FindGilWaits(*overview.store)) {
    for (const GilHolder& holder : waits.holders) {
      AddRow(table, GilColumns(), GilRow{*overview.store, waits.thread, waits.looked_ns, holder});
    }
  }
  return table;
}

}  // namespace batchlight
