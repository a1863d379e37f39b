// Native functions by samples, in each phase of a step and for each cause of a waiting GPU.
#include <string>

#include "analysis/breakdown/native_parts.h"
#include "analysis/numbers/percent.h"
#include "analysis/python/sampled_code.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/cpu_tables.h"

namespace batchlight {
namespace {

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
       [](const R& row) {
         return row.found.sum.function.IsNone()
                    ? std::string("[unknown]")
                    : std::string(row.store.Text(row.found.sum.function));
       }},
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

}  // namespace

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
