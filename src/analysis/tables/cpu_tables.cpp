#include "analysis/tables/cpu_tables.h"

#include <string>

#include "analysis/breakdown/native_parts.h"
#include "analysis/cpu/sample_sums.h"
#include "analysis/cpu/thread_times.h"
#include "analysis/numbers/percent.h"
#include "analysis/python/sampled_code.h"
#include "analysis/result/result_column.h"

namespace batchlight {
namespace {

template <typename Sum>
struct CpuRow {
  const Store& store;
  Sum sum;
  int64_t all_ns;  // of all samples
};

int64_t SampledNs(const Store& store) {
  int64_t all_ns = 0;
  for (const int64_t ns : store.cpu_samples.cpu_ns) all_ns += ns;
  return all_ns;
}

constexpr char kSelfHelp[] = "Processor time that the samples stand for";
constexpr char kShareHelp[] = "Of the processor time of all samples";

const Columns<CpuRow<FunctionSum>>& NativeFunctionColumns() {
  using R = CpuRow<FunctionSum>;
  static const Columns<R> columns = {
      {TextColumn("function", "Function", "Innermost function; without a name, all of its library"),
       [](const R& row) { return NativeFunctionName(row.store, row.sum); }},
      {TextColumn("module", "Library", "Program or library that its code is of"),
       [](const R& row) { return ModuleName(row.store, row.sum.module); }},
      {TimeColumn("self", "Self", kSelfHelp), [](const R& row) { return Cell{row.sum.self_ns}; }},
      {PercentColumn("self_share", "Self %", kShareHelp),
       [](const R& row) { return Cell{PercentOf(row.sum.self_ns, row.all_ns)}; }},
      {TimeColumn("total", "Total", "With what it called; recursion counts once"),
       [](const R& row) { return Cell{row.sum.total_ns}; }},
      {CountColumn("samples", "Samples", "In which it was innermost"),
       [](const R& row) { return NumberCell(row.sum.samples); }},
      {CountColumn("threads", "Threads", "In which it was innermost"),
       [](const R& row) { return NumberCell(row.sum.threads); }}};
  return columns;
}

const Columns<CpuRow<ModuleSum>>& SampledLibraryColumns() {
  using R = CpuRow<ModuleSum>;
  static const Columns<R> columns = {
      {TextColumn("module", "Library", "Program or library; [kernel]: the operating system's"),
       [](const R& row) { return ModuleName(row.store, row.sum.module); }},
      {TimeColumn("self", "Self", kSelfHelp), [](const R& row) { return Cell{row.sum.self_ns}; }},
      {PercentColumn("self_share", "Self %", kShareHelp),
       [](const R& row) { return Cell{PercentOf(row.sum.self_ns, row.all_ns)}; }},
      {TimeColumn("total", "Total", "Of stacks that go through it"),
       [](const R& row) { return Cell{row.sum.total_ns}; }},
      {CountColumn("samples", "Samples", "In which it was innermost"),
       [](const R& row) { return NumberCell(row.sum.samples); }},
      {TextColumn("path", "Path", "The file"), [](const R& row) {
         if (row.sum.module.IsNone()) return std::string();
         return std::string(row.store.Text(row.store.native_modules.path[row.sum.module.row()]));
       }}};
  return columns;
}

struct NativePartRow {
  const Store& store;
  NativeInPart found;
  StepsOnThreads steps;
};

Columns<NativePartRow> NativePartColumns(ResultColumn part, const char* share_help) {
  using R = NativePartRow;
  return {
      {std::move(part), [](const R& row) { return row.found.part; }},
      {TextColumn("function", "Function", "By its unwind tables where it has no name"),
       [](const R& row) { return NativeFunctionName(row.store, row.found.sum); }},
      {TextColumn("module", "Library", "Program or library that its code is of"),
       [](const R& row) { return ModuleName(row.store, row.found.sum.module); }},
      {CountColumn("samples", "Samples", "In which it was innermost"),
       [](const R& row) { return NumberCell(row.found.sum.samples); }},
      {TimeColumn("self_per_step", "Self per Step",
                  "Processor time that these stand for; mean over the steps that count"),
       [](const R& row) {
         return NanosecondsCell(double(row.found.sum.self_ns) / double(row.steps.count));
       }},
      {TimeColumn("total_per_step", "Total per Step", "With what it called"),
       [](const R& row) {
         return NanosecondsCell(double(row.found.sum.total_ns) / double(row.steps.count));
       }},
      {PercentColumn("share_of_part", "Share", share_help),
       [](const R& row) { return Cell{PercentOf(row.found.sum.self_ns, row.found.part_cpu_ns)}; }},
      {PercentColumn("share_of_step", "Share of Step", "Self per step / mean step"),
       [](const R& row) { return Cell{PercentOf(row.found.sum.self_ns, row.steps.ns)}; }}};
}

ResultTable NativePartTable(const RunOverview& overview, ResultTable table,
                            const Columns<NativePartRow>& columns, const SampleParts& parts) {
  const StepsOnThreads steps = CountStepsOnThreads(overview.steps);
  if (steps.count == 0) return table;
  for (const NativeInPart& found : SumFunctionsByPart(*overview.store, parts)) {
    AddRow(table, columns, NativePartRow{*overview.store, found, steps});
  }
  return table;
}

// Without switches, what they tell is not known.
Cell OfSwitches(const CpuRow<ThreadTimes>& row, int64_t value) {
  const ThreadTimes& sum = row.sum;
  const bool known = sum.running_ns + sum.ready_ns + sum.blocked_ns + sum.off_ns > 0;
  return known ? Cell{value} : Cell{};
}

// Nor where they do not tell why a thread was on no processor.
Cell OfLosses(const CpuRow<ThreadTimes>& row, int64_t value) {
  return row.sum.off_ns == 0 ? OfSwitches(row, value) : Cell{};
}

const Columns<CpuRow<ThreadTimes>>& ThreadColumns() {
  using R = CpuRow<ThreadTimes>;
  const auto threads = [](const R& row) -> const ThreadsTable& { return row.store.threads; };
  static const Columns<R> columns = {
      {TextColumn("thread", "Thread", "Its name"),
       [=](const R& row) {
         return std::string(row.store.Text(threads(row).name[row.sum.thread.row()]));
       }},
      {TextColumn("process", "Process", "Its process"),
       [=](const R& row) {
         const ProcessId process = threads(row).process[row.sum.thread.row()];
         if (process.IsNone()) return std::string();
         return std::string(row.store.Text(row.store.processes.name[process.row()])) + " " +
                std::to_string(row.store.processes.pid[process.row()]);
       }},
      {CountColumn("tid", "TID", "Number that the operating system gave it"),
       [=](const R& row) { return NumberCell(threads(row).tid[row.sum.thread.row()]); }},
      {TimeColumn("running", "Running", "On a processor"),
       [](const R& row) { return OfSwitches(row, row.sum.running_ns); }},
      {TimeColumn("ready", "Ready", "Could run, but another thread had the processor"),
       [](const R& row) { return OfLosses(row, row.sum.ready_ns); }},
      {TimeColumn("blocked", "Blocked", "Waiting, until it got a processor again"),
       [](const R& row) { return OfLosses(row, row.sum.blocked_ns); }},
      {CountColumn("preempted", "Preempted", "Times that it lost the processor to another"),
       [](const R& row) { return OfLosses(row, static_cast<int64_t>(row.sum.preempted)); }},
      {CountColumn("waits", "Waits", "Times that it gave the processor up"),
       [](const R& row) { return OfLosses(row, static_cast<int64_t>(row.sum.waits)); }},
      {TextColumn("blocked_in", "Blocked In",
                  "The call of the C library in which it was blocked longest (-t osrt)"),
       [](const R& row) { return std::string(row.store.Text(row.sum.blocked_in)); }},
      {TimeColumn("blocked_in_time", "Blocked In Time", "In those calls"),
       [](const R& row) { return OfSwitches(row, row.sum.blocked_in_ns); }},
      {TimeColumn("sampled", "Sampled", "Processor time by samples (--sample)"),
       [](const R& row) { return Cell{row.sum.sampled_ns}; }}};
  return columns;
}

template <typename Sum>
ResultTable CpuTable(const Store& store, std::string name, std::string title,
                     const Columns<CpuRow<Sum>>& columns, const std::vector<Sum>& sums) {
  ResultTable table = EmptyTable(std::move(name), std::move(title), columns);
  const int64_t all_ns = SampledNs(store);
  for (const Sum& sum : sums) AddRow(table, columns, CpuRow<Sum>{store, sum, all_ns});
  return table;
}

}  // namespace

ResultTable MakeSamplesTable(const RunOverview& overview) {
  return CpuTable(*overview.store, "samples", "Native functions, by samples",
                  NativeFunctionColumns(), SumSamplesByFunction(*overview.store));
}

ResultTable MakeSampleModulesTable(const RunOverview& overview) {
  return CpuTable(*overview.store, "sample_modules", "Programs and libraries, by samples",
                  SampledLibraryColumns(), SumSamplesByModule(*overview.store));
}

ResultTable MakeThreadsTable(const RunOverview& overview) {
  return CpuTable(*overview.store, "threads", "Threads, by time on a processor", ThreadColumns(),
                  MeasureThreads(*overview.store));
}

ResultTable MakeSamplePhasesTable(const RunOverview& overview) {
  static const Columns<NativePartRow> columns =
      NativePartColumns(TextColumn("phase", "Phase", "Part of a step, or your own range"),
                        "Self, of all samples of the phase");
  return NativePartTable(
      overview, EmptyTable("sample_phases", "Native functions in each phase of a step", columns),
      columns, PhasesOfSamples(*overview.inputs, overview.steps));
}

ResultTable MakeSampleIdleTable(const RunOverview& overview) {
  static const Columns<NativePartRow> columns =
      NativePartColumns(TextColumn("cause", "Idle Cause", "Why a GPU had nothing to do"),
                        "Self, of all samples of the cause");
  return NativePartTable(
      overview,
      EmptyTable("sample_idle", "Native functions of launching threads while a GPU waited",
                 columns),
      columns, IdleCausesOfSamples(*overview.inputs, overview.steps));
}

}  // namespace batchlight
