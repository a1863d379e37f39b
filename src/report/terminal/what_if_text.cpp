#include "report/terminal/what_if_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/rank_sentences.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

using nlohmann::ordered_json;

constexpr double kSlowdown = 1.01;  // from here on it is worth a section

void WriteParts(SummaryText& out, std::string_view title, const std::vector<SlowPart>& parts,
                size_t rows) {
  SummaryTable table(out, {{.header = "", .right = false}, {.header = "step, of the ideal"}});
  for (size_t i = 0; i < std::min(rows, parts.size()); ++i) {
    table.Row({{CleanText(parts[i].name)}, {SignificantText(parts[i].slowdown)}});
  }
  table.Print(title);
}

ordered_json PartsJson(const std::vector<SlowPart>& parts) {
  ordered_json json = ordered_json::array();
  for (const SlowPart& part : parts) {
    json.push_back({{"name", CleanText(part.name)}, {"slowdown", part.slowdown}});
  }
  return json;
}

// "With the slowest 2 of 64 ranks as fast as the mean (first Rank 5 (node1)) it would take 97.0 ms:
// 98.0 % of what is lost (M_W)."
std::string WorkersSentence(const JobResult& job, const WhatIf& found) {
  const auto worst = std::find_if(job.ranks.begin(), job.ranks.end(), [&](const RankTimes& rank) {
    return rank.rank == found.workers.front().rank;
  });
  std::string text = "With the slowest " + CountText(found.healed) + " of " +
                     CountText(found.workers.size()) + " ranks as fast as the mean";
  if (worst != job.ranks.end()) text += " (first " + RankName(*worst) + ")";
  return text + " it would take " + TimeText(found.without_workers_s * 1e9) + ": " +
         PercentText(found.share_of_workers()) + " of what is lost (M_W).";
}

}  // namespace

std::string WhatIfAsText(const WhatIf& found, const TerminalStyle& style, size_t rows) {
  SummaryText out(style);
  const auto seconds = [](double s) { return TimeText(s * 1e9); };
  out.Put("batchlight", Tone::kTitle).Put("  ");
  out.Put("a step takes " + seconds(found.step_s), Tone::kStrong);
  out.Put(" · " + seconds(found.ideal_s) + " if no worker were slow · " +
          SignificantText(found.slowdown()) + " times as long");
  out.EndLine();
  out.Title("What if");
  const SlowWorker& worst = found.workers.front();
  out.Put("  ").Wrapped(
      "With the slowest " + CountText(found.healed) + " of " + CountText(found.workers.size()) +
          " workers as fast as the rest (first rank " + std::to_string(worst.rank) + ": replica " +
          std::to_string(worst.replica) + ", stage " + std::to_string(worst.stage) +
          ") a step would take " + seconds(found.without_workers_s) + ": " +
          PercentText(found.share_of_workers()) + " of what is lost (M_W).",
      2);
  out.Put("  ").Wrapped("With the last stage as fast as the rest " +
                            seconds(found.without_stage_s) + ": " +
                            PercentText(found.share_of_stage()) + " of it (M_S).",
                        2);
  out.Title("What makes the ideal step longer");
  std::vector<SlowPart> workers;
  for (const SlowWorker& worker : found.workers) {
    workers.push_back({"rank " + std::to_string(worker.rank) + " (replica " +
                           std::to_string(worker.replica) + ", stage " +
                           std::to_string(worker.stage) + ")",
                       worker.slowdown});
  }
  WriteParts(out, "worker, as it is", workers, rows);
  WriteParts(out, "stage, as it is", found.stages, found.stages.size());
  WriteParts(out, "operations, as they are", found.works, rows);
  return out.text();
}

ordered_json WhatIfJson(const WhatIf& found) {
  ordered_json json = {{"step_s", found.step_s},
                       {"ideal_s", found.ideal_s},
                       {"slowdown", found.slowdown()},
                       {"healed_workers", found.healed},
                       {"without_workers_s", found.without_workers_s},
                       {"share_of_workers", found.share_of_workers()},
                       {"without_last_stage_s", found.without_stage_s},
                       {"share_of_last_stage", found.share_of_stage()},
                       {"workers", ordered_json::array()},
                       {"stages", PartsJson(found.stages)},
                       {"operations", PartsJson(found.works)}};
  for (const SlowWorker& worker : found.workers) {
    json["workers"].push_back({{"rank", worker.rank},
                               {"dp_rank", worker.replica},
                               {"stage", worker.stage},
                               {"slowdown", worker.slowdown}});
  }
  return json;
}

std::string WhatIfAsJson(const WhatIf& found) { return WhatIfJson(found).dump(2) + "\n"; }

void WriteWhatIf(SummaryText& out, const JobResult& job, size_t rows) {
  if (!job.what_if || job.what_if->slowdown() < kSlowdown) return;
  const WhatIf& found = *job.what_if;
  out.Title("What if no rank were slow");
  out.Put("  ").Wrapped("A step takes " + TimeText(found.step_s * 1e9) + ", and " +
                            TimeText(found.ideal_s * 1e9) +
                            " if each rank took for itself what all take in the mean (S " +
                            SignificantText(found.slowdown()) + "). " + WorkersSentence(job, found),
                        2);
  if (found.stages.size() > 1) {
    out.Put("  ").Wrapped("With the last stage as fast as the mean " +
                              TimeText(found.without_stage_s * 1e9) + ": " +
                              PercentText(found.share_of_stage()) + " of it (M_S).",
                          2);
  }
  std::vector<SlowPart> workers;
  for (const SlowWorker& worker : found.workers) {
    const std::string place = job.grid ? " (" + job.grid->PlaceText(worker.rank) + ")" : "";
    workers.push_back({"rank " + std::to_string(worker.rank) + place, worker.slowdown});
  }
  WriteParts(out, "rank, as it is", workers, rows);
  if (found.stages.size() > 1) {
    WriteParts(out, "stage, as it is", found.stages, found.stages.size());
  }
  if (!found.works.empty()) WriteParts(out, "work, as it is", found.works, rows);
}

}  // namespace batchlight
