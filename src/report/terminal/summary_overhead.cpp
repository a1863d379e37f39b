// What recording costs, as `profile --measure-overhead` measured it.
#include <cmath>

#include "report/terminal/summary_sections.h"
#include "report/text/number_text.h"

namespace batchlight {
namespace {

// "  recording adds 1.46 ms to a step (35.8 %, 35.7 to 35.9 in 3 rounds): 5.53 ms with it, 4.07 ms
// without"
void WriteComparison(SummaryText& out, std::string_view what, const OverheadOf& measured) {
  if (measured.rounds == 0) return;
  const double added_ns = measured.profiled_ns - measured.plain_ns;
  const auto percent = [](double fraction) { return FixedText(100 * fraction, 1); };
  std::string text = "recording adds " + std::string(added_ns < 0 ? "-" : "") +
                     TimeText(std::abs(added_ns)) + " to " + std::string(what) + " (" +
                     percent(measured.overhead()) + " %";
  if (measured.rounds > 1) {
    text += ", " + percent(measured.low) + " to " + percent(measured.high) + " in " +
            std::to_string(measured.rounds) + " rounds";
  }
  text += "): " + TimeText(measured.profiled_ns) + " with the profiler, " +
          TimeText(measured.plain_ns) + " without";
  // A run that is not slower in every round only shows noise.
  if (measured.low <= 0) text += ": no more than runs differ by themselves";
  out.Put("  ").Wrapped(text, 2);
}

}  // namespace

void WriteMeasuredOverhead(SummaryText& out, const RunOverview& overview) {
  const MeasuredOverhead& measured = overview.measured_overhead;
  if (!measured.asked) return;
  out.Title("What recording costs, measured");
  WriteComparison(out, "a step", measured.step);
  WriteComparison(out, "the whole program", measured.wall);
  if (!measured.problem.empty()) out.Put("  ! ", Tone::kWarning).Wrapped(measured.problem, 4);
  if (measured.wall.rounds == 1) {
    out.Line("  One round: how much runs differ by themselves, --measure-overhead=5 shows",
             Tone::kDim);
  }
}

}  // namespace batchlight
