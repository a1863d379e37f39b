// -t sqlite: the order of the parts, and the tables of names and numbers.
#include <algorithm>
#include <unordered_map>

#include "export/nsys_enums.h"
#include "export/nsys_writer.h"

namespace batchlight {
namespace {

constexpr int64_t kVirtualMachine = int64_t{1} << 48;

// Tables that nsys has and this recording has no rows for.
Status CreateMissingTables(NsysWriter& writer) {
  for (const NsysTableShape& table : NsysTables()) {
    if (!writer.options.selection.HasTable(table.name)) continue;
    std::string sql = CreateStatement(table);
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
  return kVirtualMachine | int64_t{store.processes.pid[process.row()] & 0xffffff} << 24;
}

int64_t NsysWriter::GlobalTid(ThreadId thread) const {
  if (thread.IsNone()) return 0;
  return GlobalPid(store.threads.process[thread.row()]) |
         (store.threads.tid[thread.row()] & 0xffffff);
}

Status WriteEnumTables(NsysWriter& writer) {
  for (const NsysEnum& table : NsysEnums()) {
    RETURN_IF_ERROR(writer.OwnTable({table.table, "id!P name:T label:T"}, "id name label",
                                    [&](SqliteInsert& insert) {
                                      for (const NsysEnumValue& value : table.values) {
                                        insert.Int(value.id).Text(value.name).Text(value.label);
                                        insert.Done();
                                      }
                                    }));
  }
  return Status();
}

Status WriteStrings(NsysWriter& writer) {
  // Everything refers to StringIds: a selection of tables keeps it.
  RETURN_IF_ERROR(writer.file.Execute(CreateStatement(*FindNsysTable("StringIds"))));
  ASSIGN_OR_RETURN(SqliteInsert insert,
                   SqliteInsert::Prepare(writer.file, "StringIds", "id value"));
  for (size_t row = 0; row < writer.store.strings.size(); ++row) {
    const StringId id = StringId::At(row);
    if (!writer.Used(id)) continue;
    insert.Int(static_cast<int64_t>(row)).Text(writer.store.Text(id));
    insert.Done();
  }
  return insert.status();
}

Result<uint64_t> ExportSqlite(const Store& store, const ExportOptions& options) {
  if (options.append) return UsageError("--append is for folders; sqlite is one file");
  ASSIGN_OR_RETURN(SqliteFile file, SqliteFile::Create(options.output));
  NsysWriter writer(store, options, file);
  for (const auto part : {WriteCudaTables, WriteNvtxTables, WriteOsTables, WriteOwnTables,
                          WriteInfoTables, WriteEnumTables, WriteStrings}) {
    RETURN_IF_ERROR(part(writer));
  }
  if (!options.lazy) RETURN_IF_ERROR(CreateMissingTables(writer));
  RETURN_IF_ERROR(file.Commit());
  return writer.rows;
}

}  // namespace batchlight
