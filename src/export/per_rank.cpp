#include "export/per_rank.h"

#include <map>
#include <optional>
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

Status CheckForm(const Exporter& exporter) {
  if (exporter.form == ExportForm::kText) return {};
  return UsageError("--per-rank is for formats of one text or trace file; " +
                    std::string(exporter.name) + " tells processes apart in its columns");
}

// A folder that appears complete with a file for each rank.
class RankFolder {
 public:
  RankFolder(const Exporter& exporter, const ExportOptions& options)
      : exporter_(exporter), path_(options.output) {}

  Status Open() {
    ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(path_));
    folder_.emplace(std::move(folder));
    return {};
  }

  // `processes`: those of the rank, by row; empty: all.
  Status Add(const Store& store, const std::vector<bool>& processes, int32_t rank,
             ExportOptions options) {
    options.output = folder_->FinalPath(FileName(rank, exporter_));
    options.into = &folder_->held();
    if (!processes.empty()) options.selection.KeepProcesses(processes, store.threads.process);
    ASSIGN_OR_RETURN(const uint64_t written, exporter_.run(store, options));
    events_ += written;
    return {};
  }

  Result<uint64_t> Close() {
    RETURN_IF_ERROR(
        folder_->Commit([&](std::string_view name) { return IsRankFile(name, exporter_); }));
    return events_;
  }

 private:
  const Exporter& exporter_;
  std::string path_;
  std::optional<FolderOutput> folder_;
  uint64_t events_ = 0;
};

}  // namespace

Result<uint64_t> ExportPerRank(const Store& store, const Exporter& exporter,
                               const ExportOptions& options) {
  RETURN_IF_ERROR(CheckForm(exporter));
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
        "--per-rank: no process of the recording has a rank (of torch.distributed, of its "
        "launcher, "
        "such as RANK or SLURM_PROCID, or NCCL's); without --per-rank all are in one file");
  }
  RankFolder folder(exporter, options);
  RETURN_IF_ERROR(folder.Open());
  for (const auto& [rank, kept] : processes_of) {
    RETURN_IF_ERROR(folder.Add(store, kept, rank, options));
  }
  return folder.Close();
}

Result<uint64_t> ExportRanks(std::span<const Store* const> stores, const stats::RankParts& ranks,
                             const Exporter& exporter, const ExportOptions& options) {
  RETURN_IF_ERROR(CheckForm(exporter));
  ExportOptions one = options;
  for (const stats::RankPart& part : ranks.parts) one.world_size += part.rank >= 0 ? 1 : 0;
  RankFolder folder(exporter, options);
  RETURN_IF_ERROR(folder.Open());
  for (const stats::RankPart& part : ranks.parts) {
    if (part.rank < 0) continue;  // beside the ranks
    const Store& store = *stores[part.input];
    const int64_t later_ns = store.session_start_utc_ns - stores[0]->session_start_utc_ns;
    one.selection.SetShift(options.selection.shift_ns() + (options.since_epoch ? later_ns : 0));
    one.rank = static_cast<int32_t>(part.rank);
    RETURN_IF_ERROR(folder.Add(store, part.processes, one.rank, one));
  }
  return folder.Close();
}

}  // namespace batchlight
