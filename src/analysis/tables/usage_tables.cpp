#include <string>

#include "analysis/cpu/usage.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

struct ProcessUseRow {
  const Store& store;
  ProcessUse use;
};

const Columns<ProcessUseRow>& ProcessUseColumns() {
  using R = ProcessUseRow;
  static const Columns<R> columns = {
      {TextColumn("process", "Process", "Its name"),
       [](const R& row) {
         return std::string(row.store.Text(row.store.processes.name[row.use.process.row()]));
       }},
      {CountColumn("pid", "PID", "Number that the operating system gave it"),
       [](const R& row) { return NumberCell(row.store.processes.pid[row.use.process.row()]); }},
      {RealColumn("processors", "Processors", "That it used on average: processor time over time"),
       [](const R& row) { return Cell{row.use.Processors()}; }},
      {RealColumn("most_processors", "Most Processors", "Between two looks, of 0.1 s or more"),
       [](const R& row) { return Cell{row.use.most_processors}; }},
      {CountColumn("allowed", "Allowed", "Processors that its first thread may run on"),
       [](const R& row) {
         return row.use.processors == 0 ? Cell{} : NumberCell(row.use.processors);
       }},
      {TimeColumn("user", "User", "Processor time in the program"),
       [](const R& row) { return NanosecondsCell(row.use.user_ns); }},
      {TimeColumn("system", "System", "Processor time in the kernel"),
       [](const R& row) { return NanosecondsCell(row.use.system_ns); }},
      {TimeColumn("first_ran", "First Ran", "Processor time of its first thread"),
       [](const R& row) { return NanosecondsCell(row.use.first_ran_ns); }},
      {TimeColumn("first_waited", "First Waited",
                  "In which its first thread could run and had no processor"),
       [](const R& row) { return NanosecondsCell(row.use.first_waited_ns); }},
      {BytesColumn("peak_memory", "Peak Memory", "Resident, at the fullest of its looks"),
       [](const R& row) { return NumberCell(row.use.peak_bytes); }},
      {BytesColumn("last_memory", "Last Memory", "Resident, at the last look before it ended"),
       [](const R& row) { return NumberCell(row.use.last_bytes); }},
      {CountColumn("threads", "Threads", "At most"),
       [](const R& row) { return NumberCell(row.use.most_threads); }},
      {BytesColumn("read", "Read", "From disks"),
       [](const R& row) { return NanosecondsCell(row.use.read_bytes); }},
      {BytesColumn("written", "Written", "To disks"),
       [](const R& row) { return NanosecondsCell(row.use.written_bytes); }},
      {TimeColumn("looked", "Time", "Between its first and its last look"),
       [](const R& row) { return NanosecondsCell(row.use.looked_ns); }}};
  return columns;
}

const Columns<MachineUse>& MachineUseColumns() {
  using R = MachineUse;
  static const Columns<R> columns = {
      {RealColumn("processors", "Processors", "That the program may run on"),
       [](const R& row) { return Cell{row.processors}; }},
      {RealColumn("program", "Program", "Of them, used by the program's processes"),
       [](const R& row) { return Cell{row.Processors(row.program_ns)}; }},
      {RealColumn("others", "Others", "Used by other programs and the kernel"),
       [](const R& row) { return Cell{row.Processors(row.OthersNs())}; }},
      {RealColumn("stolen", "Stolen", "Given to others by the hypervisor"),
       [](const R& row) { return Cell{row.Processors(row.stolen_ns)}; }},
      {RealColumn("tool", "Recorder", "Used by the recorder"),
       [](const R& row) { return Cell{row.Processors(row.tool_ns)}; }},
      {PercentColumn("pressure", "Pressure %",
                     "Of the time, some thread of the machine waited for a processor"),
       [](const R& row) { return Cell{row.cpu_pressure_ns / row.looked_ns * 100}; }},
      {RealColumn("limit", "Limit", "Processors that the control group may use"),
       [](const R& row) { return row.group_limit > 0 ? Cell{row.group_limit} : Cell{}; }},
      {PercentColumn("throttled", "Throttled %",
                     "Periods of that limit in which it kept threads from running"),
       [](const R& row) { return row.periods > 0 ? Cell{row.ThrottledShare() * 100} : Cell{}; }},
      {BytesColumn("group_memory", "Group Memory", "Of the control group at most, with caches"),
       [](const R& row) { return NumberCell(row.group_peak_bytes); }},
      {BytesColumn("memory_limit", "Memory Limit", "Of the control group"),
       [](const R& row) {
         return row.group_limit_bytes > 0 ? NumberCell(row.group_limit_bytes) : Cell{};
       }},
      {BytesColumn("available", "Least Available", "Memory of the machine that was free, at least"),
       [](const R& row) { return NumberCell(row.least_available_bytes); }},
      {TimeColumn("looked", "Time", "Between the first and the last look"),
       [](const R& row) { return NanosecondsCell(row.looked_ns); }}};
  return columns;
}

}  // namespace

ResultTable MakeProcessUsageTable(const RunOverview& overview) {
  ResultTable table =
      EmptyTable("process_usage", "What processes used, by processor time", ProcessUseColumns());
  for (const ProcessUse& use : SumProcessUse(*overview.store)) {
    AddRow(table, ProcessUseColumns(), ProcessUseRow{*overview.store, use});
  }
  return table;
}

ResultTable MakeMachineUsageTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("machine_usage", "What the machine's processors did meanwhile",
                                 MachineUseColumns());
  const MachineUse use = SumMachineUse(*overview.store);
  if (use.looked_ns > 0) AddRow(table, MachineUseColumns(), use);
  return table;
}

}  // namespace batchlight
