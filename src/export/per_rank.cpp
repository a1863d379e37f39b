#include "export/per_rank.h"

#include <map>
#include <vector>

#include "analysis/ranks/job_places.h"
#include "export/folder_output.h"

namespace batchlight {
namespace {

std::string FileName(int32_t rank, const Exporter& exporter) {
  return "rank_" + std::to_string(rank) + std::string(exporter.extension);
}

bool IsRankFile(std::string_view name, const Exporter& exporter) {
  if (!name.starts_with("rank_") || !name.ends_with(exporter.extension)) return false;
  name.remove_prefix(5);
  name.remove_suffix(exporter.extension.size());
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos;
}

}  // namespace

Result<uint64_t> ExportPerRank(const Store& store, const Exporter& exporter,
                               const ExportOptions& options) {
  if (exporter.form != ExportForm::kText) {
    return UsageError("--per-rank is for formats of one text or trace file; " +
                      std::string(exporter.name) + " tells processes apart in its columns");
  }
  const std::vector<JobPlace> places = FindJobPlaces(store, FindNcclCalls(store));
  std::map<int32_t, std::vector<bool>> processes_of;
  for (size_t row = 0; row < places.size(); ++row) {
    if (places[row].rank < 0) continue;
    std::vector<bool>& kept = processes_of[places[row].rank];
    kept.resize(places.size());
    kept[row] = true;
  }
  if (processes_of.empty()) {
    return UsageError(
        "--per-rank: no process of the recording has a rank (RANK, OMPI_COMM_WORLD_RANK or "
        "PMI_RANK when it started, or NCCL's); without --per-rank all are in one file");
  }
  ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(options.output));
  uint64_t events = 0;
  for (const auto& [rank, kept] : processes_of) {
    ExportOptions one = options;
    one.output = folder.PartialPath(FileName(rank, exporter));
    one.selection.KeepProcesses(kept, store.threads.process);
    ASSIGN_OR_RETURN(const uint64_t written, exporter.run(store, one));
    events += written;
  }
  RETURN_IF_ERROR(folder.Commit([&](std::string_view name) { return IsRankFile(name, exporter); }));
  return events;
}

}  // namespace batchlight
