// The run from start to end: its stages, and what start-up was made of.
#include <algorithm>

#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

Tone ToneOf(StageKind kind) {
  switch (kind) {
    case StageKind::kStartUp:
    case StageKind::kPreprocessing:
      return Tone::kYellow;
    case StageKind::kTraining:
    case StageKind::kInference:
      return Tone::kBlue;
    case StageKind::kWarmUp:
    case StageKind::kCompile:
    case StageKind::kGraphCapture:
      return Tone::kCyan;
    case StageKind::kRollout:
    case StageKind::kValidation:
      return Tone::kMagenta;
    case StageKind::kCheckpoint:
      return Tone::kGreen;
    default:
      return Tone::kDim;
  }
}

std::string Title(const RunOverview& overview, const ProcessStages& main) {
  std::string title = "The run, from start to end";
  if (overview.stages.processes.size() < 2) return title;
  const uint32_t pid = overview.store->processes.pid[main.process.row()];
  return title +
         (main.rank >= 0 ? ", rank " + std::to_string(main.rank) : ", pid " + std::to_string(pid));
}

// "start-up: imports 2.10 s (torch 1.30 s, numpy 0.40 s), interpreter 40.0 ms"
std::string StartUpLine(const StartUpParts& start) {
  constexpr size_t kMostImports = 3;
  std::vector<StartUpPart> parts = PartsByName(start);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const StartUpPart& a, const StartUpPart& b) { return a.ns > b.ns; });
  std::string line;
  for (const StartUpPart& part : parts) {
    if (part.ns == 0) continue;
    line += (line.empty() ? "start-up: " : ", ") + std::string(part.name) + " " +
            TimeText(double(part.ns));
    if (part.key != "imports") continue;
    std::string imports;
    for (size_t i = 0; i < std::min(kMostImports, start.largest.size()); ++i) {
      const PackageImport& import = start.largest[i];
      if (import.ns * 100 < part.ns) break;
      imports += (imports.empty() ? " (" : ", ") + CleanText(import.package) + " " +
                 TimeText(double(import.ns));
    }
    if (!imports.empty()) line += imports + ")";
  }
  return line;
}

// "mean of 2 ranks: start-up 5.40 s, training 10.2 ms; run 6.50 s"
std::string MeanLine(const RunOverview& overview, const MeanStages& mean) {
  std::string line;
  for (const StageTotal& total : mean.totals) {
    line += (line.empty() ? MeanOfRanks(overview) + ": " : ", ") +
            std::string(StageKindName(total.kind)) + " " + TimeText(double(total.total_ns));
  }
  return line + "; run " + TimeText(double(mean.wall_ns));
}

}  // namespace

void WriteStages(SummaryText& out, const RunOverview& overview) {
  const ProcessStages* main = overview.stages.Main();
  if (main == nullptr) return;
  const TimesInOneUnit time(double(main->wall_ns()));
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "", .right = false, .bar = true},
                           {.header = "count", .least_width = 60},
                           {.header = time.Header("total")},
                           {.header = "total/count", .least_width = 70},
                           {.header = "of run"}});
  double largest = 0;
  for (const StageTotal& total : main->totals) largest = std::max(largest, total.share);
  for (const StageTotal& total : main->totals) {
    table.Row({{std::string(StageKindName(total.kind))},
               {"", ToneOf(total.kind), total.share / largest},
               {CountText(total.count), Tone::kDim},
               {time.Text(double(total.total_ns))},
               {TimeText(total.each_ns), Tone::kDim},
               {PercentText(total.share), Tone::kStrong}});
  }
  table.Row({{"run", Tone::kDim},
             {"", Tone::kDim, 0},
             {"", Tone::kDim},
             {time.Text(double(main->wall_ns())), Tone::kDim},
             {"", Tone::kDim},
             {PercentText(1), Tone::kDim}});
  table.Print(Title(overview, *main));
  const std::string start = StartUpLine(main->start_up);
  if (!start.empty()) out.Put("  ").Wrapped(start, 2, Tone::kDim);
  const std::optional<MeanStages> mean = MeanOf(overview.stages);
  if (mean) out.Put("  ").Wrapped(MeanLine(overview, *mean), 2, Tone::kDim);
}

}  // namespace batchlight
