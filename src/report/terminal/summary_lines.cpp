// The lines of Python code that cost most.
#include <algorithm>

#include "analysis/lines/source_place.h"
#include "analysis/lines/steady_lines.h"
#include "analysis/python/function_counts.h"
#include "analysis/python/line_counts.h"
#include "analysis/python/sampled_code.h"
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"
#include "report/text/run_text.h"
#include "report/text/told_apart.h"

namespace batchlight {
namespace {

struct ShownLine {
  const LineRow& line;
  bool on_gpu;

  int64_t Of(int64_t LineRow::*gpu, int64_t LineRow::*cpu) const {
    return on_gpu ? line.*gpu : line.*cpu;
  }
  int64_t forward_ns() const { return Of(&LineRow::gpu_forward_ns, &LineRow::cpu_forward_ns); }
  int64_t backward_ns() const { return Of(&LineRow::gpu_backward_ns, &LineRow::cpu_backward_ns); }
  int64_t recompute_ns() const {
    return Of(&LineRow::gpu_recompute_ns, &LineRow::cpu_recompute_ns);
  }
  int64_t total_ns() const { return forward_ns() + backward_ns() + recompute_ns(); }
};

std::string PlaceText(const Store& store, const LineRow& line) {
  if (line.frame.IsNone()) return std::string(LineKindName(line.kind));
  const size_t frame = line.frame.row();
  const std::string place = std::string(ShortFile(store.Text(store.python_frames.file[frame]))) +
                            ':' + std::to_string(store.python_frames.line[frame]);
  return line.kind == LineKind::kLine ? place
                                      : place + " (" + std::string(LineKindName(line.kind)) + ')';
}

// Of the first `rows`.
std::vector<std::string> PlaceTexts(const Store& store, const std::vector<LineRow>& lines,
                                    size_t rows) {
  std::vector<std::string> texts, files;
  for (size_t i = 0; i < std::min(rows, lines.size()); ++i) {
    texts.push_back(PlaceText(store, lines[i]));
    const bool known = !lines[i].frame.IsNone();
    files.emplace_back(known ? store.Text(store.python_frames.file[lines[i].frame.row()])
                             : std::string_view());
  }
  TellApart(texts, files);
  return texts;
}

std::string SourceText(const Store& store, const LineRow& line) {
  if (line.frame.IsNone()) return "";
  const std::string text(store.Text(store.python_frames.text[line.frame.row()]));
  return line.kind == LineKind::kLine ? text : std::string(LineKindName(line.kind)) + ": " + text;
}

}  // namespace

void WriteLines(SummaryText& out, const RunOverview& overview, size_t rows) {
  if (overview.lines.empty()) return;
  const SteadyLines steady =
      MeasureSteadyLines(*overview.store, overview.links, overview.work, overview.steps);
  const LineTimes& times = steady.times;
  if (times.empty()) return;
  const double steps = steady.steps > 0 ? double(steady.steps) : 1;
  const bool on_gpu = times.gpu_ns > 0;
  const int64_t whole_ns = on_gpu ? times.gpu_ns : times.cpu_ns;
  const TimesInOneUnit time(double(ShownLine{times.rows.front(), on_gpu}.total_ns()) / steps);
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "source", .right = false, .least_width = 90},
                           {.header = time.Header("forward")},
                           {.header = time.Header("backward")},
                           {.header = "of all"}});
  const std::vector<std::string> places = PlaceTexts(*overview.store, times.rows, rows);
  for (size_t i = 0; i < places.size(); ++i) {
    const ShownLine line{times.rows[i], on_gpu};
    if (line.total_ns() <= 0) break;
    table.Row({{places[i]},
               {SourceText(*overview.store, line.line), Tone::kDim},
               {time.Text(double(line.forward_ns() + line.recompute_ns()) / steps)},
               {time.Text(double(line.backward_ns()) / steps)},
               {PercentText(whole_ns == 0 ? 0 : double(line.total_ns()) / double(whole_ns)),
                Tone::kStrong}});
  }
  table.Print(TitleWith(std::string("Lines of Python, ") +
                            (on_gpu ? "time on the GPU" : "CPU of operators") +
                            (steady.steps > 0 ? " per step" : ""),
                        steady.steps > 0 ? MeanOfRanks(overview) : SumOfRanks(overview)),
              FromSteps(overview));
}

void WritePythonFunctions(SummaryText& out, const RunOverview& overview, size_t rows) {
  const Store& store = *overview.store;
  const std::vector<PythonFunctionCounts> functions = CountPythonFunctions(store);
  if (functions.empty()) return;
  int64_t largest_ns = 0;
  int64_t all_ns = 0;
  for (const PythonFunctionCounts& function : functions) {
    largest_ns = std::max(largest_ns, function.counts.total_ns);
    all_ns += function.counts.self_ns;
  }
  const TimesInOneUnit time{double(largest_ns)};
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "calls", .least_width = 76},
                           {.header = time.Header("own")},
                           {.header = time.Header("with callees")},
                           {.header = "of all"}});
  for (size_t i = 0; i < functions.size() && i < rows; ++i) {
    const PythonFunctionCounts& function = functions[i];
    const double share = all_ns == 0 ? 0 : double(function.counts.self_ns) / double(all_ns);
    table.Row({{PythonLabel(ShortFile(store.Text(function.file)), function.first_line,
                            store.Text(function.name))},
               {CountText(function.counts.calls) + (function.thinned ? "+" : ""), Tone::kDim},
               {time.Text(double(function.counts.self_ns))},
               {time.Text(double(function.counts.total_ns))},
               {PercentText(share), Tone::kStrong}});
  }
  table.Print(TitleWith("Functions of Python, own time, whole run", SumOfRanks(overview)));
}

void WriteSampledPython(SummaryText& out, const RunOverview& overview, size_t rows) {
  const Store& store = *overview.store;
  if (!CountPythonFunctions(store).empty()) return;  // counted exactly
  constexpr double kFewestLooks = 20;
  constexpr double kLeastShare = 0.01;
  const StepsOnThreads steps = CountStepsOnThreads(overview.steps);
  const bool by_step = steps.count > 0;
  std::vector<SampledCode> functions = SumSamplesByPythonFunction(store, overview.steps);
  double looks = 0, seen_ns = 0, steps_ns = 0;
  int64_t all_ns = 0;
  for (const SampledCode& function : functions) {
    looks += double(function.samples);
    seen_ns += double(function.self_ns);
    steps_ns += double(function.steps_self_ns);
    all_ns += function.self_cpu_ns;
  }
  if (by_step && seen_ns > 0) looks *= steps_ns / seen_ns;
  if (looks < kFewestLooks) return;
  if (by_step) {
    all_ns = steps.ns;
    std::stable_sort(functions.begin(), functions.end(),
                     [](const SampledCode& a, const SampledCode& b) {
                       return a.steps_self_ns > b.steps_self_ns;
                     });
  }
  const double each = by_step ? double(steps.count) : 1;
  const auto own_ns = [&](const SampledCode& function) {
    return by_step ? function.steps_self_ns : function.self_cpu_ns;
  };
  const auto total_ns = [&](const SampledCode& function) {
    return by_step ? function.steps_total_ns : function.total_cpu_ns;
  };
  std::erase_if(functions, [&](const SampledCode& function) {
    return all_ns == 0 || double(own_ns(function)) < kLeastShare * double(all_ns);
  });
  if (functions.empty()) return;
  if (functions.size() > rows) functions.resize(rows);
  int64_t largest_ns = 0;
  for (const SampledCode& function : functions)
    largest_ns = std::max(largest_ns, total_ns(function));
  const TimesInOneUnit time{double(largest_ns) / each};
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = time.Header("own")},
                           {.header = time.Header("with callees")},
                           {.header = by_step ? "of step" : "of all"}});
  for (const SampledCode& function : functions) {
    table.Row({{PythonLabel(ShortFile(store.Text(function.file)), function.line,
                            store.Text(function.function))},
               {time.Text(double(own_ns(function)) / each)},
               {time.Text(double(total_ns(function)) / each)},
               {PercentText(double(own_ns(function)) / double(all_ns)), Tone::kStrong}});
  }
  table.Print(by_step ? TitleWith("Python functions by samples, per step", MeanOfRanks(overview))
                      : TitleWith("Python functions by samples, processor time, whole run",
                                  SumOfRanks(overview)),
              by_step ? FromSteps(overview) : "");
}

void WritePythonLines(SummaryText& out, const RunOverview& overview, size_t rows) {
  const Store& store = *overview.store;
  const std::vector<PythonTimedFunction> functions = CountPythonLines(store);
  struct Line {
    const PythonTimedFunction* function;
    const PythonLineCounts* counts;
  };
  std::vector<Line> lines;
  for (const PythonTimedFunction& function : functions) {
    for (const PythonLineCounts& line : function.lines) {
      if (line.hits > 0) lines.push_back({&function, &line});
    }
  }
  if (lines.empty()) return;
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.counts->time_ns > b.counts->time_ns;
  });
  if (lines.size() > rows) lines.resize(rows);
  const TimesInOneUnit time(double(lines.front().counts->time_ns));
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "source", .right = false, .least_width = 90},
                           {.header = "hits"},
                           {.header = time.Header("time")},
                           {.header = "of function"}});
  for (const Line& line : lines) {
    const double whole = double(std::max<int64_t>(1, line.function->total_ns));
    std::string_view source = line.counts->text;
    source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
    table.Row({{std::string(ShortFile(store.Text(line.function->file))) + ':' +
                std::to_string(line.counts->line)},
               {std::string(source), Tone::kDim},
               {CountText(line.counts->hits)},
               {time.Text(double(line.counts->time_ns))},
               {PercentText(double(line.counts->time_ns) / whole), Tone::kStrong}});
  }
  table.Print(TitleWith("Lines of Python that were timed, whole run", SumOfRanks(overview)));
}

}  // namespace batchlight
