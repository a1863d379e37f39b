// -t sqlite: the order of the parts, and the tables of names and numbers.
#include "export/sqlite/nsys_rows.h"
#include "nsys/tables.h"

namespace batchlight {
namespace {

// Tables of nsys for which this recording has no rows.
Status CreateMissingTables(NsysWriter& writer) {
  for (const nsys::TableEntry& table : nsys::Entries()) {
    if (table.columns.empty() || !writer.options.selection.HasTable(table.name)) continue;
    std::string sql = nsys::CreateStatement(table.name, table.columns);
    sql.insert(std::string_view("CREATE TABLE ").size(), "IF NOT EXISTS ");
    RETURN_IF_ERROR(writer.file.Execute(sql));
  }
  return Status();
}

}  // namespace

int64_t NsysWriter::GlobalPid(ProcessId process) const {
  if (process.IsNone()) return 0;
  const uint64_t native = store.processes.native_global_id[process.row()];
  if (native != 0) return static_cast<int64_t>(native);
  return nsys::GlobalPid(store.processes.pid[process.row()]);
}

int64_t NsysWriter::GlobalTid(ThreadId thread) const {
  if (thread.IsNone()) return 0;
  return GlobalPid(store.threads.process[thread.row()]) |
         nsys::TidOf(store.threads.tid[thread.row()]);
}

Status WriteEnumTables(NsysWriter& writer) {
  for (const nsys::Enum& table : nsys::Enums()) {
    RETURN_IF_ERROR(WritePlainRows(writer, nsys::EnumTable(table.table), table.values));
  }
  return Status();
}

Status WriteStrings(NsysWriter& writer) {
  // Everything refers to StringIds, so any selection of tables keeps it.
  RETURN_IF_ERROR(writer.file.Execute(CreateStatement(nsys::kStringIds)));
  ASSIGN_OR_RETURN(SqliteInsert insert, SqliteInsert::Prepare(writer.file, nsys::kStringIds.name,
                                                              WrittenColumns(nsys::kStringIds)));
  for (size_t row = 0; row < writer.store.strings.size(); ++row) {
    const StringId id = StringId::At(row);
    if (!writer.Used(id)) continue;
    const nsys::StringIdsRow string{static_cast<int64_t>(row), writer.store.Text(id)};
    PutRow(writer, insert, nsys::kStringIds, row, string);
  }
  if (writer.NoStringUsed()) {
    const nsys::StringIdsRow none{writer.NoString(), {}};
    PutRow(writer, insert, nsys::kStringIds, writer.store.strings.size(), none);
  }
  for (const auto& [text, id] : writer.OwnStrings()) {
    PutRow(writer, insert, nsys::kStringIds, 0, nsys::StringIdsRow{id, text});
  }
  return insert.status();
}

Result<uint64_t> ExportSqlite(const Store& store, const ExportOptions& options) {
  if (options.append) return UsageError("--append is for folders; sqlite is one file");
  ASSIGN_OR_RETURN(SqliteFile file, SqliteFile::Create(options.output, options.into));
  NsysWriter writer(store, options, file);
  for (const auto part :
       {WriteCudaTables, WriteNvtxTables, WriteOsTables, WriteCpuTables, WriteMetricTables,
        WriteOwnTables, WriteInfoTables, WriteEnumTables, WriteStrings}) {
    RETURN_IF_ERROR(part(writer));
  }
  if (!options.lazy) RETURN_IF_ERROR(CreateMissingTables(writer));
  RETURN_IF_ERROR(file.Commit());
  return writer.rows;
}

}  // namespace batchlight
