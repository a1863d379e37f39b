// What recording costs, as `profile --measure-overhead` measured it.
#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

std::string SignedPercent(double fraction) {
  return (fraction < 0 ? "-" : "+") + PercentText(fraction < 0 ? -fraction : fraction);
}

// "+3.2 %  10.3 ms with the profiler, 9.99 ms without; +2.8 % to +3.5 % in 3 rounds"
void WriteComparison(SummaryText& out, std::string_view what, const OverheadOf& measured) {
  if (measured.rounds == 0) return;
  out.Put("  ").Put(what).PadTo(18).Put(SignedPercent(measured.overhead()), Tone::kStrong);
  std::string text = TimeText(measured.profiled_ns) + " with the profiler, " +
                     TimeText(measured.plain_ns) + " without";
  if (measured.rounds > 1) {
    text += "; " + SignedPercent(measured.low) + " to " + SignedPercent(measured.high) + " in " +
            std::to_string(measured.rounds) + " rounds";
  }
  // A run that is not slower in every round only shows noise.
  if (measured.low <= 0) text += ": not more than runs differ by themselves";
  out.PadTo(28).Wrapped(text, 28, Tone::kDim);
}

}  // namespace

void WriteMeasuredOverhead(SummaryText& out, const RunOverview& overview) {
  const MeasuredOverhead& measured = overview.measured_overhead;
  if (!measured.asked) return;
  out.Title("What recording costs, measured");
  WriteComparison(out, "a step", measured.step);
  WriteComparison(out, "whole program", measured.wall);
  if (!measured.problem.empty()) out.Put("  ! ", Tone::kWarning).Wrapped(measured.problem, 4);
  if (measured.wall.rounds == 1) {
    out.Line("  One round: how much runs differ by themselves, --measure-overhead=5 shows",
             Tone::kDim);
  }
}

}  // namespace batchlight
