// The life of each training process as tables: its stages, and what its start-up was made of.
#include <algorithm>

#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct StageRow {
  int32_t rank;
  uint32_t pid;
  const StageTotal& total;
};

const Columns<StageRow>& StageColumns() {
  using Row = StageRow;
  static const Columns<Row> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const Row& row) { return RankCell(row.rank); }},
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {TextColumn("stage", "Stage", "What the process was at"),
       [](const Row& row) { return std::string(StageKindName(row.total.kind)); }},
      {CountColumn("count", "Count",
                   "Steps of warm-up, graph capture and training; else stretches"),
       [](const Row& row) { return NumberCell(row.total.count); }},
      {TimeColumn("total", "Total", "The stages of a process add up to its life"),
       [](const Row& row) { return row.total.total_ns; }},
      {PercentColumn("share", "Share", "Of the life of the process"),
       [](const Row& row) { return row.total.share * 100; }},
      {TimeColumn("each", "Each", "Total / count"),
       [](const Row& row) { return NanosecondsCell(row.total.each_ns); }}};
  return columns;
}

struct StartRow {
  int32_t rank;
  uint32_t pid;
  std::string part;
  std::string name;
  int64_t ns;
  int64_t whole_ns;
};

const Columns<StartRow>& StartColumns() {
  using Row = StartRow;
  static const Columns<Row> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const Row& row) { return RankCell(row.rank); }},
      {CountColumn("pid", "PID", "Process"), &Row::pid},
      {TextColumn("part", "Part", "The parts without a package add up to start-up"), &Row::part},
      {TextColumn("package", "Package", "One that was imported, without those that it imports"),
       &Row::name},
      {TimeColumn("total", "Total", ""), &Row::ns},
      {PercentColumn("share", "Share", "Of start-up"),
       [](const Row& row) { return 100 * double(row.ns) / double(row.whole_ns); }}};
  return columns;
}

uint32_t PidOf(const RunOverview& overview, ProcessId process) {
  return overview.store->processes.pid[process.row()];
}

}  // namespace

ResultTable MakeStagesTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("stages", "The run, from start to end", StageColumns());
  for (const ProcessStages& process : overview.stages.processes) {
    for (const StageTotal& total : process.totals) {
      AddRow(table, StageColumns(), {process.rank, PidOf(overview, process.process), total});
    }
  }
  return table;
}

ResultTable MakeStartUpTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("start_up", "What start-up is made of", StartColumns());
  for (const ProcessStages& process : overview.stages.processes) {
    const StageTotal* whole = process.Of(StageKind::kStartUp);
    if (whole == nullptr) continue;
    const auto add = [&](std::string_view part, std::string_view name, int64_t ns) {
      if (ns == 0) return;
      AddRow(table, StartColumns(),
             {process.rank, PidOf(overview, process.process), std::string(part), std::string(name),
              ns, whole->total_ns});
    };
    for (const StartUpPart& part : PartsByName(process.start_up)) {
      add(part.name, "", part.ns);
      if (part.key != "imports") continue;
      for (const PackageImport& import : process.start_up.largest) {
        add(part.name, import.package, import.ns);
      }
    }
  }
  return table;
}

}  // namespace batchlight
