// What the parts of the SQLite exporter share: the file, ids in nsys's packing, and the strings
// used so far.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "export/exporter.h"
#include "export/sqlite/sqlite_file.h"
#include "nsys/table.h"

namespace batchlight {

class NsysWriter {
 public:
  NsysWriter(const Store& the_store, const ExportOptions& the_options, SqliteFile& the_file)
      : store(the_store),
        options(the_options),
        file(the_file),
        used_(the_store.strings.size(), false) {}

  const Store& store;
  const ExportOptions& options;
  SqliteFile& file;
  uint64_t rows = 0;

  // nsys/global_ids.h; ids of an imported file stay what they were.
  int64_t GlobalPid(ProcessId process) const;
  int64_t GlobalTid(ThreadId thread) const;
  // The id that `text` will have in StringIds.
  int64_t String(StringId text) {
    used_[text.row()] = true;
    return static_cast<int64_t>(text.row());
  }
  bool Used(StringId text) const { return used_[text.row()]; }
  // The id of an empty text, for a column that must have one where the store has none.
  int64_t NoString() {
    no_string_used_ = true;
    return static_cast<int64_t>(store.strings.size());
  }
  bool NoStringUsed() const { return no_string_used_; }
  // The id of a text that the store does not have.
  int64_t OwnString(std::string_view text) {
    const auto id = static_cast<int64_t>(store.strings.size() + own_strings_.size()) + 1;
    return own_strings_.try_emplace(std::string(text), id).first->second;
  }
  const std::map<std::string, int64_t>& OwnStrings() const { return own_strings_; }

  bool Selects(int64_t start_ns, int64_t end_ns) const {
    return options.selection.HasTime(start_ns, end_ns);
  }
  int64_t Time(int64_t ns) const { return options.selection.Shifted(ns); }
  // Ranges that never ended are NULL in NVTX_EVENTS; elsewhere an end is required.
  int64_t End(int64_t ns) const { return Time(ns == kOpenEnd ? store.duration_ns : ns); }

  // Runs fill(insert) for a table of nsys. Leaves the table out if the selection does, or if
  // `count` is 0 and the export is lazy.
  template <typename... Columns, typename Fill>
  Status Table(const nsys::Table<Columns...>& table, size_t count, const Fill& fill) {
    if (!options.selection.HasTable(table.name)) return Status();
    if (count == 0 && options.lazy) return Status();
    return Write(table.name, CreateStatement(table), WrittenColumns(table), fill);
  }
  // The same for a table of ours, whose columns are spelled as nsys::Spelling defines.
  template <typename Fill>
  Status OwnTable(std::string_view name, std::string_view shape, std::string_view columns,
                  const Fill& fill) {
    if (!options.selection.HasTable(name)) return Status();
    return Write(name, nsys::CreateStatement(name, shape), columns, fill);
  }

 private:
  template <typename Fill>
  Status Write(std::string_view name, const std::string& create, std::string_view columns,
               const Fill& fill) {
    RETURN_IF_ERROR(file.Execute(create));
    ASSIGN_OR_RETURN(SqliteInsert insert, SqliteInsert::Prepare(file, name, columns));
    fill(insert);
    rows += insert.rows();
    return insert.status();
  }
  std::vector<bool> used_;
  bool no_string_used_ = false;
  std::map<std::string, int64_t> own_strings_;
};

// The number of a stack as a call chain; 0: none.
int64_t ChainOf(NativeStackId stack);
// By row of api_calls.
std::unordered_map<size_t, NativeStackId> StacksOfCudaCalls(const Store& store);

// The parts, in the order in which tables are written. Errors: kOutput.
Status WriteCudaTables(NsysWriter& writer);
Status WriteNvtxTables(NsysWriter& writer);
Status WriteOsTables(NsysWriter& writer);      // OS calls, MPI, overhead, unified memory
Status WriteCpuTables(NsysWriter& writer);     // samples, switches, call chains
Status WriteMetricTables(NsysWriter& writer);  // metrics of GPUs over time
Status WriteOwnTables(NsysWriter& writer);     // BATCHLIGHT_*: what nsys has no table for
Status WriteInfoTables(NsysWriter& writer);    // session, machine, processes, threads
Status WriteEnumTables(NsysWriter& writer);
Status WriteStrings(NsysWriter& writer);  // last: the strings that were used

}  // namespace batchlight
