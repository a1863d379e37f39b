#include "cli/reading/rank_tables.h"

#include <string_view>
#include <vector>

#include "analysis/partial/job_tables.h"
#include "base/file.h"
#include "cli/reading/standard_output.h"
#include "export/folder_output.h"

namespace batchlight::cli {
namespace {

Status WriteOne(const RowSource& table, const RankTablesOutput& output,
                const FolderOutput& folder) {
  const std::string path =
      folder.FinalPath(table.name + '.' + std::string(output.format.extension()));
  ASSIGN_OR_RETURN(AtomicFileWriter file,
                   AtomicFileWriter::Create(path, {.folder = &folder.held()}));
  RETURN_IF_ERROR(
      WriteTable(output.format, table, [&](std::string_view bytes) { return file.Write(bytes); }));
  return file.Commit();
}

}  // namespace

Result<RankTablesOutput> RankTablesTo(const std::string& folder, const std::string& format,
                                      bool force_overwrite) {
  RankTablesOutput output{.folder = folder, .format = {}, .force_overwrite = force_overwrite};
  ASSIGN_OR_RETURN(output.format, ParseTableFormat(format));
  if (output.format.for_people()) {
    return UsageError("--tables writes files for programs: -f parquet, arrow, csv or json, not " +
                      format);
  }
  if (!force_overwrite && FileExists(folder)) {
    return OutputError(folder + " exists; use --force-overwrite to replace its tables");
  }
  return output;
}

Status WriteRankTables(const JobResult& job, const RankTablesOutput& output) {
  ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(output.folder));
  size_t rows = 0;
  for (const RowSource& table : JobTables(job)) {
    RETURN_IF_ERROR(WriteOne(table, output, folder));
    rows += table.row_count;
  }
  // Each of its files is made anew, others are not ours.
  RETURN_IF_ERROR(folder.Commit([](std::string_view) { return false; }));
  SayLine("wrote " + output.folder + " (" + std::to_string(rows) + " rows)");
  return {};
}

}  // namespace batchlight::cli
