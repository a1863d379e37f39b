// -t parquet, -t arrow: a folder with a columnar file for each table of the store.
#include <algorithm>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/thread_pool.h"
#include "columnar/columnar_file.h"
#include "export/columnar/store_columns.h"
#include "export/exporter.h"
#include "export/folder_output.h"

namespace batchlight {
namespace {

std::string FileName(std::string_view table, ColumnarFormat format) {
  return std::string(table) + '.' + std::string(NameOf(format));
}

// Whether a file of a folder being replaced was made by an earlier export.
bool IsTableFile(const Store& store, ColumnarFormat format, std::string_view name) {
  bool is = false;
  store.VisitTables(
      [&]<typename Table>(const Table&) { is = is || name == FileName(Table::kName, format); });
  return is;
}

ColumnarSchema SchemaOf(const Store& store, std::string_view table,
                        const std::vector<StoreColumn>& columns) {
  ColumnarSchema schema{.table = std::string(table), .fields = {}, .facts = {}};
  for (const StoreColumn& column : columns) schema.fields.push_back(column.field);
  schema.facts = {{"source", store.source},
                  {"session_start_utc_ns", std::to_string(store.session_start_utc_ns)}};
  return schema;
}

Status WriteBatch(const std::vector<StoreColumn>& columns, const std::vector<uint32_t>& rows,
                  ColumnarFile& file) {
  ColumnarBatch batch{.rows = rows.size(), .columns = {}};
  batch.columns.resize(columns.size());
  ParallelFor(columns.size(), [&](size_t i) { columns[i].fill(rows, batch.columns[i]); });
  return file.Write(batch);
}

template <typename Table>
Result<uint64_t> WriteTable(const Store& store, const ExportOptions& options, const Table& table,
                            ColumnarFormat format, const FolderOutput& folder) {
  ASSIGN_OR_RETURN(AtomicFileWriter file,
                   AtomicFileWriter::Create(folder.FinalPath(FileName(Table::kName, format)),
                                            {.folder = &folder.held()}));
  StoreColumns maker(store, options.selection, options.since_epoch);
  const std::vector<StoreColumn> columns = maker.Of(table);
  const auto out = ColumnarFile::Create(format, SchemaOf(store, Table::kName, columns),
                                        [&](std::string_view bytes) { return file.Write(bytes); });
  uint64_t written = 0;
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < table.size(); ++row) {
    if (SelectsRow(options.selection, table, row)) rows.push_back(static_cast<uint32_t>(row));
    if (rows.size() < kColumnarBatchRows && row + 1 < table.size()) continue;
    if (rows.empty()) continue;
    RETURN_IF_ERROR(WriteBatch(columns, rows, *out));
    written += rows.size();
    rows.clear();
  }
  RETURN_IF_ERROR(out->Finish());
  RETURN_IF_ERROR(file.Commit());
  return written;
}

Result<uint64_t> WriteFolder(const Store& store, const ExportOptions& options,
                             ColumnarFormat format) {
  if (options.append) {
    return UsageError("--append is for csv; a file of " + std::string(NameOf(format)) +
                      " is written as a whole. Export to another folder: readers take several, "
                      "such as 'run*/kernels." +
                      std::string(NameOf(format)) + "'");
  }
  ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(options.output, options.into));
  uint64_t rows = 0;
  Status status;
  store.VisitTables([&]<typename Table>(const Table& table) {
    const bool left_out = options.lazy && table.size() == 0;
    if (!status.ok() || left_out || !options.selection.HasTable(Table::kName)) return;
    const Result<uint64_t> written = WriteTable(store, options, table, format, folder);
    if (written.ok()) {
      rows += written.value();
    } else {
      status = written.status();
    }
  });
  RETURN_IF_ERROR(std::move(status));
  RETURN_IF_ERROR(
      folder.Commit([&](std::string_view name) { return IsTableFile(store, format, name); }));
  return rows;
}

}  // namespace

Result<uint64_t> ExportParquet(const Store& store, const ExportOptions& options) {
  return WriteFolder(store, options, ColumnarFormat::kParquet);
}

Result<uint64_t> ExportArrow(const Store& store, const ExportOptions& options) {
  return WriteFolder(store, options, ColumnarFormat::kArrow);
}

}  // namespace batchlight
