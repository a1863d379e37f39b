// The middle of the summary: step times and what a step is made of.
#include <algorithm>
#include <cmath>
#include <map>

#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/recording_text.h"
#include "report/text/run_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

constexpr size_t kMostRanks = 8;

// Steps beyond this height are drawn at full height, in the colour of their kind.
constexpr double kTallest = 2.5;          // medians
constexpr size_t kFewestPerOutlier = 10;  // steps

Tone ToneOf(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kDataLoading:
      return Tone::kYellow;
    case PhaseKind::kCopyToDevice:
      return Tone::kYellow;
    case PhaseKind::kForward:
      return Tone::kBlue;
    case PhaseKind::kLoss:
      return Tone::kBlue;
    case PhaseKind::kBackward:
      return Tone::kMagenta;
    case PhaseKind::kOptimizer:
      return Tone::kGreen;
    case PhaseKind::kZeroGrad:
      return Tone::kGreen;
    case PhaseKind::kGpuWait:
      return Tone::kRed;
    case PhaseKind::kCommunication:
      return Tone::kRed;
    case PhaseKind::kUserRange:
      return Tone::kCyan;
    default:
      return Tone::kDim;
  }
}

void WriteSparkline(SummaryText& out, const ProcessSteps& process) {
  const std::vector<Step>& steps = process.steps;
  const size_t columns = std::min(steps.size(), out.width() - 4);
  if (columns < 3) return;
  int64_t longest = 0;
  for (const Step& step : steps) longest = std::max(longest, step.duration_ns());
  const double top = std::min(double(longest), kTallest * double(process.duration.median));
  out.Put("  ");
  for (size_t c = 0; c < columns; ++c) {
    const size_t from = c * steps.size() / columns;
    const size_t to = std::max(from + 1, (c + 1) * steps.size() / columns);
    const Step* tallest = &steps[from];
    for (size_t i = from; i < to; ++i) {
      if (steps[i].duration_ns() > tallest->duration_ns()) tallest = &steps[i];
    }
    const Tone tone = tallest->kind != StepKind::kSteady ? Tone::kYellow
                      : tallest->outlier                 ? Tone::kRed
                                                         : Tone::kBlue;
    const double height = top > 0 ? double(tallest->duration_ns()) / top : 0;
    out.Put(SparkGlyph(height, out.unicode()), tone);
  }
  out.EndLine();
  const std::string first = "step " + std::to_string(steps.front().number);
  const std::string last = std::to_string(steps.back().number);
  out.Put("  ").Put(first, Tone::kDim);
  if (columns + 2 > first.size() + last.size() + 4) {
    out.PadTo(columns + 2 - last.size()).Put(last, Tone::kDim);
  }
  const std::string height = "0 to " + TimeText(top);
  if (out.column() + 3 + CharacterCount(height) <= out.width() && columns + 20 < out.width()) {
    out.Put("   " + height, Tone::kDim);
  }
  out.EndLine();
}

std::string SetApart(const ProcessSteps& process) {
  std::map<StepKind, size_t> counts;
  for (const Step& step : process.steps) ++counts[step.kind];
  std::string text;
  for (const auto& [kind, count] : counts) {
    if (kind == StepKind::kSteady || count == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + std::string(StepKindName(kind));
  }
  return text;
}

// ", 155 ms of it are the stage \"between steps\" above"; "": it is of the loop's own stage.
std::string StageText(const RunOverview& overview, const ProcessSteps& process, const Step& step) {
  const auto most = MostOf(overview.stages, process.process, step);
  if (!most) return "";
  return ", " + TimeText(double(most->ns)) + " of it are the stage \"" +
         std::string(StageKindName(most->kind)) + "\" above";
}

// ", other +13.3 µs"
std::string ExcessText(const StepBreakdown& breakdown, size_t step) {
  std::string text;
  for (const StepExcess& excess : ExplainStep(breakdown, step)) {
    text += ", " + breakdown.phases[excess.phase].name + " +" + TimeText(double(excess.excess_ns));
  }
  return text;
}

// The longest outliers, each with what was longer in it.
void WriteOutliers(SummaryText& out, const RunOverview& overview, const ProcessSteps& process,
                   const StepBreakdown& breakdown) {
  constexpr size_t kMost = 3;
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < process.steps.size(); ++i) {
    if (process.steps[i].outlier) rows.push_back(i);
  }
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return process.steps[a].duration_ns() > process.steps[b].duration_ns();
  });
  // So many are a kind of steps, and no accident.
  const bool many = rows.size() * kFewestPerOutlier > process.steps.size();
  const std::string count = CountText(rows.size()) + (many               ? " long steps"
                                                      : rows.size() == 1 ? " outlier"
                                                                         : " outliers");
  out.Put("  ").Put(count + (rows.size() > kMost ? ", the longest:" : ":"), Tone::kWarning);
  out.EndLine();
  for (size_t i = 0; i < std::min(rows.size(), kMost); ++i) {
    const Step& step = process.steps[rows[i]];
    const std::string text =
        "step " + std::to_string(step.number) + " took " + TimeText(double(step.duration_ns()));
    const std::string stage = StageText(overview, process, step);
    out.Put("    ").Wrapped(text + (stage.empty() ? ExcessText(breakdown, rows[i]) : stage), 4);
  }
}

void WriteStepTimes(SummaryText& out, const RunOverview& overview) {
  const ProcessSteps& process = *overview.steps.Main();
  const GpuBreakdown* gpu = overview.gpu.MainBreakdown();
  const Sample& time = process.duration;
  out.Put("  median ").Put(TimeText(double(time.median)), Tone::kStrong);
  if (HasPercentiles(time)) {
    out.Put("   p5 ", Tone::kDim).Put(TimeText(double(time.p5)));
    out.Put("   p95 ", Tone::kDim).Put(TimeText(double(time.p95)));
  } else if (time.count > 1) {
    out.Put("   shortest ", Tone::kDim).Put(TimeText(double(time.min)));
    out.Put("   longest ", Tone::kDim).Put(TimeText(double(time.max)));
  }
  const auto fits = [&](const std::string& text) {
    return !text.empty() && out.column() + 3 + text.size() <= out.width();
  };
  const StepRate rate = RateOfSteps(overview, 0);
  const std::string text = RateText(rate.per_second());
  if (fits(text)) out.Put("   " + text, Tone::kDim);
  const std::string mean =
      TimeText(time.mean) + (rate.has_two() ? " (" + RateText(rate.mean_per_second()) + ")" : "");
  const bool same_line = fits("mean " + mean);
  if (!same_line) out.EndLine();
  out.Put(same_line ? "   mean " : "  mean ", Tone::kDim).Put(mean);
  out.EndLine();
  const int64_t pace = gpu == nullptr ? 0 : PaceOfGpuNs(*gpu, process);
  if (pace == 0) return;
  out.Put("  ").Wrapped("the GPU takes " + TimeText(double(pace)) + " a step (median; mean " +
                            TimeText(gpu->window.mean) +
                            "): the CPU runs ahead, launches some steps at once and then waits",
                        2);
}

// What recording cost the step, and whether the recording is complete.
void WriteRecordingCost(SummaryText& out, const RunOverview& overview) {
  std::string text = RecordingCostText(overview);
  if (text.empty()) return;
  const bool lost =
      std::any_of(overview.losses.begin(), overview.losses.end(),
                  [](const LossWarning& loss) { return loss.severity == LossSeverity::kDataLoss; });
  text += lost ? "; events were lost, see above" : "; nothing was dropped";
  out.Put("  ").Wrapped(text, 2, Tone::kDim);
  for (const std::string& part : {DetailedStepsText(overview), OperatorLevelsText(overview)}) {
    if (!part.empty()) out.Put("  ").Wrapped(part, 2, Tone::kDim);
  }
}

void WriteRanks(SummaryText& out, const RunOverview& overview) {
  const std::vector<ProcessSteps>& all = overview.steps.processes;
  if (all.size() < 2) return;
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "steps"},
                           {.header = "median"},
                           {.header = "p95"},
                           {.header = "", .right = false, .least_width = 70, .bar = true}});
  int64_t slowest = 1;
  for (const ProcessSteps& process : all) slowest = std::max(slowest, process.duration.median);
  for (size_t i = 0; i < std::min(all.size(), kMostRanks); ++i) {
    const ProcessSteps& process = all[i];
    const uint32_t pid = overview.store->processes.pid[process.process.row()];
    std::string name = process.rank >= 0 ? "rank " + std::to_string(process.rank) : "process";
    table.Row({{name + " (pid " + std::to_string(pid) + ")"},
               {CountText(process.steady.size())},
               {TimeText(double(process.duration.median))},
               {HasPercentiles(process.duration) ? TimeText(double(process.duration.p95)) : "–"},
               {"", Tone::kBlue, double(process.duration.median) / double(slowest)}});
  }
  table.Print("Processes");
  if (all.size() > kMostRanks) {
    out.Line("  and " + CountText(all.size() - kMostRanks) + " more", Tone::kDim);
  }
}

}  // namespace

void WriteSteps(SummaryText& out, const RunOverview& overview) {
  out.Title(TitleWith("Steps", MainRank(overview)));
  const ProcessSteps* process = overview.steps.Main();
  if (process == nullptr) {
    out.Put("  ").Wrapped(overview.steps.how, 2, Tone::kWarning);
    return;
  }
  std::string found = CountText(process->steps.size()) +
                      (process->steps.size() == 1 ? " step, " : " steps, ") + overview.steps.how;
  out.Put("  ").Wrapped(found, 2, Tone::kDim);
  WriteStepTimes(out, overview);
  WriteSparkline(out, *process);
  const std::string apart = SetApart(*process);
  if (!apart.empty()) out.Put("  ").Wrapped("not counted: " + apart, 2, Tone::kDim);
  WriteOutliers(out, overview, *process, *overview.MainBreakdown());
  if (process->between_ns * 50 > process->duration.median) {
    out.Put("  ").Wrapped(
        "between steps: median " + TimeText(double(process->between_ns)) + ", not part of them", 2,
        Tone::kDim);
  }
  WriteRecordingCost(out, overview);
  WriteRanks(out, overview);
}

void WritePhases(SummaryText& out, const RunOverview& overview) {
  const StepBreakdown* breakdown = overview.MainBreakdown();
  if (breakdown == nullptr || breakdown->phases.empty()) return;
  if (breakdown->phases.size() == 1 && breakdown->phases[0].kind == PhaseKind::kOther) return;
  const Sample& step = overview.steps.Main()->duration;
  const TimesInOneUnit time(double(step.p95));
  auto text = [&](int64_t ns) { return time.Text(double(ns)); };
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "", .right = false, .bar = true},
                           {.header = time.Header("mean")},
                           {.header = "of mean"},
                           {.header = time.Header("median"), .least_width = 60},
                           {.header = time.Header("p95"), .least_width = 70}});
  double largest = 0;
  for (const PhaseShare& phase : breakdown->phases) largest = std::max(largest, phase.share);
  for (const PhaseShare& phase : breakdown->phases) {
    if (phase.steady.total == 0) continue;  // only in steps that are not steady
    table.Row({{phase.name},
               {"", ToneOf(phase.kind), phase.share / largest},
               {time.Text(phase.steady.mean)},
               {PercentText(phase.share), Tone::kStrong},
               {text(phase.steady.median), Tone::kDim},
               {HasPercentiles(step) ? text(phase.steady.p95) : "–", Tone::kDim}});
  }
  table.Row({{"step", Tone::kDim},
             {"", Tone::kDim, 0},
             {time.Text(step.mean), Tone::kDim},
             {PercentText(1), Tone::kDim},
             {text(step.median), Tone::kDim},
             {HasPercentiles(step) ? text(step.p95) : "–", Tone::kDim}});
  table.Print(TitleWith("What a step is made of", MainRank(overview)), FromSteps(overview));
}

}  // namespace batchlight
