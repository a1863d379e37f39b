// What Python imported.
#include "analysis/result/result_column.h"
#include "analysis/stages/imports.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

// The names alone: their folders stand in imported_files of `export -t parquet`.
std::string LibraryNames(const Store& store, const Import& import) {
  std::string names;
  for (const StringId library : import.libraries) {
    const std::string_view path = store.Text(library);
    names.append(names.empty() ? "" : ", ").append(path.substr(path.rfind('/') + 1));
  }
  return names;
}

// Modules that are built in have none; recordings before format 9 do not say.
Cell BytesCell(uint64_t bytes) { return bytes == 0 ? Cell{} : NumberCell(bytes); }

struct ImportRow {
  const Store& store;
  const Import& import;
  int32_t rank;
  uint32_t pid;
  bool has_cuda;
};

const Columns<ImportRow>& ImportColumns() {
  static const Columns<ImportRow> columns = {
      {CountColumn("rank", "Rank", "Rank of the process, empty without ranks"),
       [](const ImportRow& row) { return RankCell(row.rank); }},
      {CountColumn("pid", "PID", "Process"), &ImportRow::pid},
      {TextColumn("module", "Module", "Indented by two for each import that it is part of"),
       [](const ImportRow& row) {
         return std::string(2 * size_t{row.import.depth}, ' ') +
                std::string(row.store.Text(row.import.module));
       }},
      {CountColumn("depth", "Depth", "Imports around it"),
       [](const ImportRow& row) { return NumberCell(row.import.depth); }},
      {TimeColumn("self", "Self", "Without the imports inside; these add up"),
       [](const ImportRow& row) { return Cell{row.import.self_ns}; }},
      {TimeColumn("total", "Total", "With the imports inside, without a build of the recorder"),
       [](const ImportRow& row) { return Cell{row.import.total_ns}; }},
      {TimeColumn("cuda", "CUDA", "Of the total, in calls of CUDA: its start, where that is here"),
       [](const ImportRow& row) { return row.has_cuda ? Cell{row.import.cuda_ns} : Cell{}; }},
      {TextColumn("file", "File", "What was loaded; none for modules that are built in"),
       [](const ImportRow& row) { return std::string(row.store.Text(row.import.file)); }},
      {BytesColumn("bytes", "Size",
                   "Of its file and shared libraries; these add up. As they are on the disk: the "
                   "loader may read less, Python the .pyc beside a .py"),
       [](const ImportRow& row) { return BytesCell(row.import.bytes); }},
      {BytesColumn("total_bytes", "Total Size", "With the imports inside"),
       [](const ImportRow& row) { return BytesCell(row.import.total_bytes); }},
      {TextColumn("libraries", "Shared Libraries", "Those that came with it, beside its file"),
       [](const ImportRow& row) { return LibraryNames(row.store, row.import); }}};
  return columns;
}

}  // namespace

ResultTable MakeImportsTable(const RunOverview& overview) {
  const Store& store = *overview.store;
  ResultTable table = EmptyTable("imports", "What Python imported", ImportColumns());
  for (const Import& import : FindImports(store)) {
    const size_t process = store.ProcessOf(import.thread).row();
    AddRow(table, ImportColumns(),
           ImportRow{store, import, store.processes.rank[process], store.processes.pid[process],
                     store.api_calls.size() != 0});
  }
  return table;
}

}  // namespace batchlight
