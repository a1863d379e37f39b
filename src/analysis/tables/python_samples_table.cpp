// What Python code threads were in, by samples from outside: by function and by line.
#include <string>

#include "analysis/breakdown/sampled_phases.h"
#include "analysis/numbers/percent.h"
#include "analysis/python/sampled_code.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

struct PythonCodeRow {
  const Store& store;
  SampledCode code;
  int64_t all_cpu_ns;  // of all samples
  StepsOnThreads steps;
  bool knows_ready;
};

using Row = PythonCodeRow;

Cell PerStep(const Row& row, int64_t ns) {
  return NanosecondsCell(double(ns) / double(row.steps.count));
}

// Empty where it is not known.
Cell KnownTime(bool is_known, int64_t ns) { return is_known ? Cell{ns} : Cell{}; }

// Where the longest of it is to be seen.
template <typename Of, typename SpanOf>
Columns<Of> LongestColumns(SpanOf&& span_of) {
  return {{TimeColumn("longest", "Longest",
                      "Of looks one after the other that saw it; in steps that count, if "
                      "any did"),
           [span_of](const Of& row) { return Cell{span_of(row).duration_ns()}; }},
          {TimeColumn("longest_start", "Longest Start", "Since the start of the session"),
           [span_of](const Of& row) { return Cell{span_of(row).start_ns}; }}};
}

// `place`: how the line is called and what it is.
Columns<Row> SampledColumns(ResultColumn place, bool has_steps) {
  Columns<Row> columns = {
      {TextColumn("function", "Function", "Qualified name; before Python 3.11 its last part"),
       [](const Row& row) { return std::string(row.store.Text(row.code.function)); }},
      {TimeColumn("self_cpu", "Self CPU", "Processor time of the threads found in it"),
       [](const Row& row) { return Cell{row.code.self_cpu_ns}; }},
      {PercentColumn("self_cpu_share", "Self CPU %", "Of the processor time of all samples"),
       [](const Row& row) { return Cell{PercentOf(row.code.self_cpu_ns, row.all_cpu_ns)}; }},
      {TimeColumn("self", "Self",
                  "Time that threads were in it, running or waiting, summed over threads"),
       [](const Row& row) { return Cell{row.code.self_ns}; }},
      {TimeColumn("self_no_processor", "No Processor", "Of Self: could run, and had no processor"),
       [](const Row& row) { return KnownTime(row.knows_ready, row.code.self_times.ready_ns); }},
      {TimeColumn("self_gil", "GIL", "Of Self: waited for Python's lock"),
       [](const Row& row) { return Cell{row.code.self_times.gil_ns}; }},
      {TimeColumn("self_waited", "Waited",
                  "Of Self: slept, or waited for something else (GPU, lock, file)"),
       [](const Row& row) { return KnownTime(row.knows_ready, row.code.self_times.waited_ns); }},
      {TimeColumn("total_cpu", "Total CPU", "With what it called; recursion counts once"),
       [](const Row& row) { return Cell{row.code.total_cpu_ns}; }},
      {TimeColumn("total", "Total", "With what it called; recursion counts once"),
       [](const Row& row) { return Cell{row.code.total_ns}; }},
      {CountColumn("samples", "Samples", "In which it was innermost"),
       [](const Row& row) { return NumberCell(row.code.samples); }},
      {CountColumn("threads", "Threads", "In which it was innermost"),
       [](const Row& row) { return NumberCell(row.code.threads); }},
      {TextColumn("file", "File", "As Python names it"),
       [](const Row& row) { return std::string(row.store.Text(row.code.file)); }},
      {std::move(place), [](const Row& row) { return NumberCell(uint64_t{row.code.line}); }}};
  Append<Row>(columns, LongestColumns<Row>([](const Row& row) { return row.code.longest; }));
  if (has_steps) {
    Append<Row>(
        columns,
        {{TimeColumn("self_per_step", "Self per Step",
                     "Of the thread that runs the steps; mean over those that count"),
          [](const Row& row) { return PerStep(row, row.code.steps_self_ns); }},
         {TimeColumn("total_per_step", "Total per Step", "The same with what it called"),
          [](const Row& row) { return PerStep(row, row.code.steps_total_ns); }},
         {PercentColumn("share_of_step", "Share of Step",
                        "Self per step / mean step; all rows add up to at most 100 %"),
          [](const Row& row) { return Cell{PercentOf(row.code.steps_self_ns, row.steps.ns)}; }}});
  }
  return columns;
}

using SumOfSamples = std::vector<SampledCode>(const Store&, const StepSet&);

ResultTable SampledTable(const RunOverview& overview, std::string name, std::string title,
                         ResultColumn place, SumOfSamples& sum) {
  const Store& store = *overview.store;
  const StepsOnThreads steps = CountStepsOnThreads(overview.steps);
  const Columns<Row> columns = SampledColumns(std::move(place), steps.count > 0);
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  const bool knows_ready = KnowsReady(store.python_samples);
  int64_t all_cpu_ns = 0;
  for (const int64_t ns : store.python_samples.cpu_ns) all_cpu_ns += ns;
  for (const SampledCode& code : sum(store, overview.steps)) {
    AddRow(table, columns, Row{store, code, all_cpu_ns, steps, knows_ready});
  }
  return table;
}

struct SampledPhaseRow {
  const Store& store;
  SampledInPhase sampled;
  StepsOnThreads steps;

  bool knows_ready;

  Cell ShareOfTime(int64_t ns, bool is_known = true) const {
    return is_known && sampled.times.ns() > 0 ? Cell{PercentOf(ns, sampled.times.ns())} : Cell{};
  }
  double ShareOfPhase() const { return double(sampled.looks) / double(sampled.phase_looks); }
};

const Columns<SampledPhaseRow>& SampledPhaseColumns() {
  using R = SampledPhaseRow;
  static const Columns<R> columns = [] {
    Columns<R> own = {
        {TextColumn("phase", "Phase", "Part of a step, or your own range"),
         [](const R& row) {
           return row.sampled.range.empty() ? std::string(PhaseKindName(row.sampled.phase))
                                            : row.sampled.range;
         }},
        {TextColumn("function", "Function", "Innermost, on the thread that runs the steps"),
         [](const R& row) { return std::string(row.store.Text(row.sampled.function)); }},
        {CountColumn("looks", "Looks", "That found it in this phase of the steps that count"),
         [](const R& row) { return NumberCell(row.sampled.looks); }},
        {PercentColumn("share_of_phase", "Share of Phase", "Looks / all looks in the phase"),
         [](const R& row) { return Cell{100 * row.ShareOfPhase()}; }},
        {TimeColumn("per_step", "Per Step", "Share of phase x mean of the phase in a step"),
         [](const R& row) {
           return NanosecondsCell(row.ShareOfPhase() * double(row.sampled.phase_ns) /
                                  double(row.steps.count));
         }},
        {PercentColumn("share_of_step", "Share of Step", "The same, of the mean step"),
         [](const R& row) {
           return Cell{100 * row.ShareOfPhase() * double(row.sampled.phase_ns) /
                       double(row.steps.ns)};
         }},
        {PercentColumn("ran_share", "Ran %", "Of the time of its looks, on a processor"),
         [](const R& row) { return row.ShareOfTime(row.sampled.times.ran_ns); }},
        {PercentColumn("no_processor_share", "No Processor %", "Could run, and had no processor"),
         [](const R& row) { return row.ShareOfTime(row.sampled.times.ready_ns, row.knows_ready); }},
        {PercentColumn("gil_share", "GIL %", "Waited for Python's lock"),
         [](const R& row) { return row.ShareOfTime(row.sampled.times.gil_ns); }},
        {PercentColumn("waited_share", "Waited %",
                       "Slept, or waited for something else (GPU, lock, file)"),
         [](const R& row) {
           return row.ShareOfTime(row.sampled.times.waited_ns, row.knows_ready);
         }},
        {TextColumn("file", "File", "As Python names it"),
         [](const R& row) { return std::string(row.store.Text(row.sampled.file)); }},
        {CountColumn("line", "Line", "Its first"),
         [](const R& row) { return NumberCell(uint64_t{row.sampled.first_line}); }}};
    Append<R>(own, LongestColumns<R>([](const R& row) { return row.sampled.longest; }));
    return own;
  }();
  return columns;
}

}  // namespace

ResultTable MakePythonPhasesTable(const RunOverview& overview) {
  ResultTable table =
      EmptyTable("python_phases", "Python functions in each phase of a step, by samples",
                 SampledPhaseColumns());
  const StepsOnThreads steps = CountStepsOnThreads(overview.steps);
  const bool knows_ready = KnowsReady(overview.store->python_samples);
  for (const SampledInPhase& row : SumSamplesByPhase(*overview.inputs, overview.steps)) {
    AddRow(table, SampledPhaseColumns(), SampledPhaseRow{*overview.store, row, steps, knows_ready});
  }
  return table;
}

ResultTable MakePythonSamplesTable(const RunOverview& overview) {
  return SampledTable(overview, "python_samples", "Python functions, by samples",
                      CountColumn("line", "Line", "Its first"), SumSamplesByPythonFunction);
}

ResultTable MakePythonSampleLinesTable(const RunOverview& overview) {
  return SampledTable(overview, "python_sample_lines", "Lines of Python, by samples",
                      CountColumn("line", "Line", "That the frame had reached"),
                      SumSamplesByPythonLine);
}

}  // namespace batchlight
