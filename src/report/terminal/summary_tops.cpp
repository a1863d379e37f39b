// The lists of the summary: top modules, operators and ranges, what to change first.
#include <algorithm>
#include <numeric>

#include "analysis/advice/advice_text.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"

namespace batchlight {
namespace {

std::string CallsText(double calls) {
  return calls == double(static_cast<uint64_t>(calls)) ? CountText(static_cast<uint64_t>(calls))
                                                       : SignificantText(calls);
}

// The modules with the largest own time, that of their backward included.
std::vector<uint32_t> TopModules(const RunOverview& overview, size_t rows) {
  std::vector<uint32_t> order = ModulesBySelfTime(overview.modules, HasSteps(overview));
  if (order.size() > rows) order.resize(rows);
  return order;
}

}  // namespace

void WriteModules(SummaryText& out, const RunOverview& overview, size_t rows) {
  const std::vector<uint32_t> top = TopModules(overview, rows);
  if (top.empty()) return;
  const double steps = HasSteps(overview) ? 1 : 0;
  const ModuleSummary& modules = overview.modules;
  auto forward = [&](const ModuleRow& row) {
    return steps > 0 ? row.self_per_step_ns : double(row.self_ns);
  };
  auto backward = [&](const ModuleRow& row) {
    return steps > 0 ? row.backward_self_per_step_ns : double(row.backward_self_ns);
  };
  auto recompute = [&](const ModuleRow& row) {
    return steps > 0 ? row.recompute_self_per_step_ns : double(row.recompute_self_ns);
  };
  double largest = 0;
  double all = 0;
  for (const ModuleRow& row : modules.rows) {
    largest = std::max({largest, forward(row), backward(row), recompute(row)});
    all += forward(row) + backward(row) + recompute(row);
  }
  const TimesInOneUnit time(largest);
  std::vector<SummaryTable::Column> columns = {
      {.header = "", .right = false},
      {.header = "class", .right = false, .least_width = 76},
      {.header = steps > 0 ? "calls/step" : "calls", .least_width = 90},
      {.header = time.Header("forward")},
      {.header = modules.has_backward ? time.Header("backward") : "",
       .least_width = modules.has_backward ? 0 : INT32_MAX},
      {.header = modules.has_recompute ? time.Header("recompute") : "",
       .least_width = modules.has_recompute ? 0 : INT32_MAX},
      {.header = steps > 0 ? "of step" : "of modules"}};
  SummaryTable table(out, columns);
  for (const uint32_t row : top) {
    const ModuleRow& module = modules.rows[row];
    const double share = steps > 0 ? module.own_share : all > 0 ? double(module.own_ns()) / all : 0;
    table.Row({{module.path},
               {module.class_name, Tone::kDim},
               {steps > 0 ? CallsText(module.calls_per_step) : CountText(module.calls)},
               {time.Text(forward(module))},
               {time.Text(backward(module))},
               {time.Text(recompute(module))},
               {PercentText(share), Tone::kStrong}});
  }
  table.Print(
      TitleWith(steps > 0 ? "Top modules, own time" : "Modules, own time", MeanOfRanks(overview)),
      FromSteps(overview));
}

void WriteOperators(SummaryText& out, const RunOverview& overview, size_t rows) {
  std::vector<OperatorRow> top = overview.operators.by_name;
  if (top.empty()) return;
  const bool steps = HasSteps(overview);
  auto own = [&](const OperatorRow& row) {
    return steps ? row.self_per_step_ns : double(row.self_ns);
  };
  // An operator's own work on the GPU: where the GPU is the limit, its CPU cost says little.
  auto gpu = [&](const OperatorRow& row) {
    return steps ? row.gpu_per_step_ns : double(row.gpu_ns);
  };
  // Own time as the rest of the table: an optimizer's step may call forward and backward (a
  // closure, Lightning's). From steady steps too, because the first calls load libraries and pick
  // kernels.
  auto average = [&](const OperatorRow& row) {
    return steps && row.calls_per_step > 0
               ? row.self_per_step_ns / row.calls_per_step
               : double(row.self_ns) / double(std::max<uint64_t>(1, row.calls));
  };
  std::erase_if(top, [&](const OperatorRow& row) { return own(row) <= 0 && gpu(row) <= 0; });
  if (top.empty()) return;
  std::stable_sort(top.begin(), top.end(), [&](const OperatorRow& a, const OperatorRow& b) {
    return std::max(own(a), gpu(a)) > std::max(own(b), gpu(b));
  });
  if (top.size() > rows) top.resize(rows);
  const bool has_gpu =
      std::any_of(top.begin(), top.end(), [&](const auto& row) { return gpu(row) > 0; });
  const TimesInOneUnit time(std::max(own(top.front()), gpu(top.front())));
  SummaryTable table(
      out, {{.header = "", .right = false},
            {.header = steps ? "calls/step" : "calls"},
            {.header = "average", .least_width = has_gpu ? 90 : 76},
            {.header = time.Header(steps ? "own/step" : "own")},
            {.header = has_gpu ? time.Header("GPU") : "", .least_width = has_gpu ? 60 : INT32_MAX},
            {.header = "in backward", .least_width = 90},
            {.header = steps ? "of step" : "of operators"}});
  for (const OperatorRow& row : top) {
    const double share =
        steps ? row.share_of_step
              : double(row.self_ns) / double(std::max<int64_t>(1, overview.operators.self_ns));
    const double in_backward =
        steps ? row.in_backward_per_step_ns : double(row.self_in_backward_ns);
    const double backward = own(row) <= 0 ? 0 : in_backward / own(row);
    table.Row({{std::string(overview.store->Text(row.name))},
               {steps ? CallsText(row.calls_per_step) : CountText(row.calls)},
               {TimeText(average(row)), Tone::kDim},
               {time.Text(own(row))},
               {time.Text(gpu(row))},
               {PercentText(backward), Tone::kDim},
               {PercentText(share), Tone::kStrong}});
  }
  table.Print(TitleWith(std::string(steps ? "Top operators" : "Operators") +
                            (has_gpu ? ", by own time on CPU or GPU" : ", own time"),
                        MeanOfRanks(overview)),
              FromSteps(overview));
}

namespace {

// "all processes": ranges of several are summed up.
std::string WhoseRanges(const Store& store) {
  const NvtxRangesTable& ranges = store.nvtx_ranges;
  for (size_t row = 1; row < ranges.size(); ++row) {
    if (store.ProcessOf(ranges.thread[row]) != store.ProcessOf(ranges.thread[0])) {
      return "all processes";
    }
  }
  return "";
}

}  // namespace

void WriteRanges(SummaryText& out, const RunOverview& overview, size_t rows) {
  // With steps, the ranges are in the phases above.
  if (overview.nvtx.rows.empty() || HasSteps(overview)) return;
  const TimesInOneUnit time(double(overview.nvtx.rows.front().total_ns));
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "domain", .right = false, .least_width = 90},
                           {.header = "calls"},
                           {.header = "median"},
                           {.header = time.Header("total")}});
  for (size_t i = 0; i < std::min(rows, overview.nvtx.rows.size()); ++i) {
    const NvtxRow& row = overview.nvtx.rows[i];
    table.Row({{std::string(overview.store->Text(row.message))},
               {row.domain, Tone::kDim},
               {CountText(row.calls)},
               {TimeText(double(row.duration.median)), Tone::kDim},
               {time.Text(double(row.total_ns)), Tone::kStrong}});
  }
  table.Print(TitleWith("NVTX ranges", WhoseRanges(*overview.store)));
}

namespace {

// ", in part that of 1 and 2": earlier findings that gain part of the same time.
std::string SameTime(const std::vector<Finding>& findings, size_t number) {
  std::string text;
  for (size_t i = 0; i < number; ++i) {
    const std::vector<std::string_view>& same = findings[number].same_time_as;
    if (std::find(same.begin(), same.end(), findings[i].rule) == same.end()) continue;
    text += (text.empty() ? ", in part that of " : " and ") + std::to_string(i + 1);
  }
  return text;
}

// "train.py:41: ", unless the finding says it itself.
std::string PlaceBefore(const Finding& finding) {
  const std::string& place = finding.patch.place;
  const bool is_said = finding.title.find(place) != std::string::npos ||
                       finding.action.find(place) != std::string::npos;
  return is_said ? "" : place + ": ";
}

}  // namespace

void WriteAdvice(SummaryText& out, const RunOverview& overview) {
  constexpr size_t kMost = 3;
  std::vector<Finding> findings = overview.findings;
  std::erase_if(findings, [](const Finding& finding) { return finding.rule == "no-steps"; });
  if (findings.empty()) {
    if (overview.steps.Main() == nullptr || !overview.findings.empty()) return;
    out.Title(TitleWith("What to change first", MainRank(overview)));
    return out.Line("  nothing was found");
  }
  out.Title(TitleWith("What to change first", MainRank(overview)));
  for (size_t i = 0; i < std::min(kMost, findings.size()); ++i) {
    const Finding& finding = findings[i];
    std::string gain;
    if (finding.has_gain()) gain = " (" + ShortGainText(finding) + SameTime(findings, i) + ")";
    out.Put("  " + std::to_string(i + 1) + " ", Tone::kDim);
    out.Wrapped(finding.title + gain, 4, Tone::kStrong);
    out.Put("    ").Wrapped(PlaceBefore(finding) + finding.action, 4);
  }
  const size_t shown = std::min(kMost, findings.size());
  const std::string together = CombinedText(std::span(findings).first(shown));
  if (!together.empty()) out.Line("    " + together);
  if (findings.size() > kMost) {
    out.Line("    and " + CountText(findings.size() - kMost) + " more", Tone::kDim);
  }
}

}  // namespace batchlight
