// The GPU in the summary: what a step is made of there, top kernels, copies, and calls that wait.
#include <algorithm>

#include "analysis/advice/thresholds.h"
#include "report/terminal/summary_sections.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"
#include "report/text/told_apart.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

Tone ToneOf(GpuPart part) {
  switch (part) {
    case GpuPart::kTensorCore:
      return Tone::kGreen;
    case GpuPart::kCompute:
      return Tone::kBlue;
    case GpuPart::kGraph:
      return Tone::kCyan;
    case GpuPart::kCommunication:
      return Tone::kRed;
    case GpuPart::kCopy:
      return Tone::kYellow;
    case GpuPart::kMemset:
      return Tone::kYellow;
    default:
      return Tone::kDim;
  }
}

// Whether it is worth a row: it happens in most steps, or takes time that shows.
bool IsOfEveryStep(const RunOverview& overview, double calls_per_step, double per_step_ns) {
  constexpr double kShows = 0.001;  // of a step
  return calls_per_step >= advice::kCallOfEveryStep ||
         per_step_ns >= kShows * overview.steps.Main()->duration.mean;
}

// cudaStreamSynchronize_v3020 -> cudaStreamSynchronize
std::string PlainCallName(std::string_view name) {
  const size_t version = name.rfind("_v");
  const bool numbered = version != std::string_view::npos && version + 2 < name.size() &&
                        name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return std::string(numbered ? name.substr(0, version) : name);
}

void WriteParts(SummaryText& out, const RunOverview& overview, const GpuBreakdown& gpu) {
  const TimesInOneUnit time(double(gpu.window.p95));
  const auto percentile = [&](const Sample& sample) {
    return HasPercentiles(gpu.window) ? time.Text(double(sample.p95)) : std::string("–");
  };
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "", .right = false, .bar = true},
                           {.header = time.Header("mean")},
                           {.header = "of mean"},
                           {.header = time.Header("median"), .least_width = 60},
                           {.header = time.Header("p95"), .least_width = 70}});
  const double largest = *std::max_element(gpu.share.begin(), gpu.share.end());
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    const GpuPart part = static_cast<GpuPart>(i);
    if (gpu.steady[i].total == 0 || largest <= 0) continue;
    table.Row({{std::string(GpuPartName(part)), IsIdle(part) ? Tone::kDim : Tone::kPlain},
               {"", ToneOf(part), gpu.share[i] / largest},
               {time.Text(gpu.steady[i].mean)},
               {PercentText(gpu.share[i]), Tone::kStrong},
               {time.Text(double(gpu.steady[i].median)), Tone::kDim},
               {percentile(gpu.steady[i]), Tone::kDim}});
  }
  table.Row({{"step", Tone::kDim},
             {"", Tone::kDim, 0},
             {time.Text(gpu.window.mean), Tone::kDim},
             {PercentText(1), Tone::kDim},
             {time.Text(double(gpu.window.median)), Tone::kDim},
             {percentile(gpu.window), Tone::kDim}});
  table.Print(TitleWith("A step on the GPU", MainRank(overview)), FromSteps(overview));
}

// "is the limit: it works 96.7 % of a step", or what it waits for.
std::string LimitText(const GpuBreakdown& gpu) {
  if (gpu.busy_share >= 1 - advice::kIdleOfLimit) {
    return " is the limit: it works " + PercentText(gpu.busy_share) + " of a step";
  }
  const GpuPart largest = LargestIdlePart(gpu);
  const double of_idle = gpu.share[static_cast<size_t>(largest)] / (1 - gpu.busy_share);
  return " works " + PercentText(gpu.busy_share) +
         " of a step; the largest part of its idle time, " + PercentText(of_idle) + ": " +
         std::string(GpuPartHelp(largest));
}

// The sentence below the table: what limits the step, and what is hidden.
std::string BusyText(const RunOverview& overview, const GpuBreakdown& gpu) {
  std::string text = "GPU " + std::to_string(gpu.device);
  for (size_t i = 0; i < overview.store->gpus.size(); ++i) {
    if (overview.store->gpus.device[i] == gpu.device) {
      text += " (" + std::string(overview.store->Text(overview.store->gpus.name[i])) + ")";
      break;
    }
  }
  text += LimitText(gpu);
  if (gpu.overlapped_communication_ns > 0) {
    text += "; " + TimeText(gpu.overlapped_communication_ns) + " of communication is hidden";
  }
  if (gpu.overlapped_copy_ns > 0) {
    text += "; " + TimeText(gpu.overlapped_copy_ns) + " of copies is hidden";
  }
  if (gpu.hidden_loading_ns > 0) {
    text += "; " + TimeText(gpu.hidden_loading_ns) + " of data loading is hidden";
  }
  if (IdleInPythonShare(gpu) >= advice::kIdleCause) {
    const std::string names = FunctionTexts(*overview.store, gpu.idle_python);
    if (!names.empty()) text += "; idle in Python mostly in " + CleanText(names);
  }
  return text;
}

// "MFU 41.2 %: 312 of 756 TFLOP/s (bf16), 9.36 TFLOP a step". Needs the sizes of inputs and a GPU
// whose peak is known; otherwise says what is missing.
std::string MfuText(const RunOverview& overview) {
  const Roofline& roofline = overview.roofline;
  if (roofline.rows.empty()) {
    if (overview.operators.calls == 0) return "";
    return "MFU not known: operators were recorded without the sizes of their inputs "
           "(--pytorch=autograd-shapes-nvtx records them)";
  }
  if (roofline.mfu <= 0) {
    const GpusTable& gpus = overview.store->gpus;
    if (roofline.flops_per_step <= 0 || gpus.size() == 0) return "";
    return "MFU not known: no peak is known of " + CleanText(overview.store->Text(gpus.name[0]));
  }
  std::string text = "MFU " + PercentText(roofline.mfu) + ": " + SignificantText(roofline.tflops) +
                     " of " + SignificantText(roofline.peak_tflops) + " TFLOP/s (" +
                     std::string(roofline.peak_dtype) + "), " +
                     SignificantText(roofline.flops_per_step / 1e12) + " TFLOP a step";
  if (roofline.known_time_share > 0 && roofline.known_time_share < 0.99) {
    text += ", counted in operators with " + PercentText(roofline.known_time_share) +
            " of the GPU's time";
  }
  return text;
}

// Short where that tells the rows apart; else with what makes the difference: the arguments of the
// template, without namespaces.
std::string KernelText(const RunOverview& overview, const std::vector<const KernelRow*>& rows,
                       const KernelRow& row) {
  if (row.short_name.IsNone()) return std::string(overview.store->Text(row.name));
  // What a generic kernel computes is more telling than its name.
  const std::string label = KernelLabel(overview.store->Text(row.name));
  if (label.find(" · ") != std::string::npos) return label;
  for (const KernelRow* other : rows) {
    if (other != &row && other->short_name == row.short_name) {
      return label;
    }
  }
  return std::string(overview.store->Text(row.short_name));
}

std::vector<std::string> KernelTexts(const RunOverview& overview,
                                     const std::vector<const KernelRow*>& rows) {
  std::vector<std::string> texts, names;
  for (const KernelRow* row : rows) {
    texts.push_back(KernelText(overview, rows, *row));
    names.push_back(PlainKernelName(overview.store->Text(row->name)));
  }
  TellApart(texts, names);
  return texts;
}

void WriteKernels(SummaryText& out, const RunOverview& overview, size_t rows) {
  const GpuSummary& gpu = overview.gpu;
  if (gpu.kernels.empty()) return;
  const bool steps = HasSteps(overview);
  auto own = [&](const KernelRow& row) { return steps ? row.per_step_ns : double(row.total_ns); };
  std::vector<const KernelRow*> top;
  for (const KernelRow& row : gpu.kernels) {
    if (own(row) > 0) top.push_back(&row);  // others ran outside of the steps
  }
  if (top.empty()) return;
  std::stable_sort(top.begin(), top.end(),
                   [&](const KernelRow* a, const KernelRow* b) { return own(*a) > own(*b); });
  if (top.size() > rows) top.resize(rows);
  const TimesInOneUnit time(own(*top.front()));
  SummaryTable table(out, {{.header = "", .right = false, .cut_end = true},
                           {.header = "kind", .right = false, .least_width = 90},
                           {.header = steps ? "calls/step" : "calls"},
                           {.header = "average", .least_width = 76},
                           {.header = time.Header(steps ? "per step" : "total")},
                           {.header = "of GPU time"}});
  const std::vector<std::string> texts = KernelTexts(overview, top);
  for (size_t i = 0; i < top.size(); ++i) {
    const KernelRow* row = top[i];
    const bool tensor = row->kind.tensor_core == TensorCoreUse::kYes;
    table.Row({{texts[i]},
               {std::string(KernelKindName(row->kind.kind)) + (tensor ? " TC" : ""), Tone::kDim},
               {steps ? SignificantText(row->calls_per_step) : CountText(row->calls)},
               {TimeText(row->average_ns()), Tone::kDim},
               {time.Text(own(*row))},
               {PercentText(row->share), Tone::kStrong}});
  }
  table.Print(TitleWith("Top kernels", MeanOfRanks(overview)), FromSteps(overview));
}

void WriteCopies(SummaryText& out, const RunOverview& overview, size_t rows) {
  const GpuSummary& gpu = overview.gpu;
  const bool steps = HasSteps(overview);
  std::vector<CopyRow> copies;
  for (const CopyRow& row : gpu.copies) {
    if (!steps || IsOfEveryStep(overview, row.calls_per_step, row.per_step_ns))
      copies.push_back(row);
  }
  if (copies.empty()) return;
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "memory", .right = false, .least_width = 76},
                           {.header = steps ? "calls/step" : "calls"},
                           {.header = steps ? "bytes/step" : "bytes"},
                           {.header = "GB/s"},
                           {.header = steps ? "per step" : "total"}});
  for (size_t i = 0; i < std::min(rows, copies.size()); ++i) {
    const CopyRow& row = copies[i];
    const bool pageable =
        row.source == MemoryKind::kPageable || row.destination == MemoryKind::kPageable;
    const Tone tone = pageable ? Tone::kWarning : Tone::kPlain;
    table.Row({{std::string(Label(row.kind)), tone},
               {LabelInSentence(row.source) + " → " + LabelInSentence(row.destination), tone},
               {steps ? SignificantText(row.calls_per_step) : CountText(row.calls)},
               {BytesText(steps ? row.bytes_per_step : double(row.bytes))},
               {SignificantText(row.bytes_per_second() / 1e9)},
               {TimeText(steps ? row.per_step_ns : double(row.total_ns)), Tone::kStrong}});
  }
  table.Print(TitleWith("Copies", MeanOfRanks(overview)), FromSteps(overview));
}

void WriteWaits(SummaryText& out, const RunOverview& overview, size_t rows) {
  const bool steps = HasSteps(overview);
  auto time = [&](const WaitRow& row) { return steps ? row.per_step_ns : double(row.total_ns); };
  std::vector<WaitRow> top;
  for (const WaitRow& row : overview.gpu.waits) {
    if (time(row) <= 0) continue;
    if (steps && !IsOfEveryStep(overview, row.calls_per_step, row.per_step_ns)) continue;
    top.push_back(row);
  }
  if (top.empty()) return;
  std::stable_sort(top.begin(), top.end(),
                   [&](const WaitRow& a, const WaitRow& b) { return time(a) > time(b); });
  if (top.size() > rows) top.resize(rows);
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "inside", .right = false},
                           {.header = steps ? "calls/step" : "calls"},
                           {.header = steps ? "per step" : "total"}});
  for (const WaitRow& row : top) {
    table.Row({{PlainCallName(overview.store->Text(row.call))},
               {std::string(overview.store->Text(row.operator_name)), Tone::kDim},
               {steps ? SignificantText(row.calls_per_step) : CountText(row.calls)},
               {TimeText(time(row)), Tone::kStrong}});
  }
  table.Print(TitleWith("The CPU waits for the GPU", MeanOfRanks(overview)), FromSteps(overview));
}

}  // namespace

void WriteGpu(SummaryText& out, const RunOverview& overview, size_t rows) {
  const GpuSummary& gpu = overview.gpu;
  if (gpu.empty()) return;
  if (const GpuBreakdown* main = gpu.MainBreakdown(); main != nullptr && main->window.count > 0) {
    WriteParts(out, overview, *main);
    out.Put("  ").Wrapped(BusyText(overview, *main), 2, Tone::kDim);
    const std::string mfu = MfuText(overview);
    if (!mfu.empty()) out.Put("  ").Wrapped(mfu, 2, Tone::kDim);
  }
  WriteKernels(out, overview, rows);
  WriteCopies(out, overview, std::min<size_t>(rows, 4));
  WriteWaits(out, overview, std::min<size_t>(rows, 4));
  if (gpu.unattributed_ns * 100 > gpu.work_ns) {
    out.EndLine();
    out.Put("  ").Wrapped(PercentText(double(gpu.unattributed_ns) / double(gpu.work_ns)) +
                              " of the GPU time (" + TimeText(double(gpu.unattributed_ns)) +
                              ") was launched outside every operator, module, range and "
                              "phase",
                          2, Tone::kWarning);
  }
}

}  // namespace batchlight
