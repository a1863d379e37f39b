#include "report/terminal/diff_text.h"

#include <algorithm>
#include <cmath>

#include "report/terminal/summary_sections.h"
#include "report/text/kernel_text.h"
#include "report/text/number_text.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

std::string Signed(double value, const std::string& text) { return (value > 0 ? "+" : "") + text; }

std::string SignedTime(double ns) { return Signed(ns, TimeText(ns)); }

std::string SignedPercent(double fraction) { return Signed(fraction, PercentText(fraction)); }

Tone ToneOf(const Change& change) {
  switch (change.kind()) {
    case ChangeKind::kSlower:
    case ChangeKind::kNew:
      return Tone::kRed;
    case ChangeKind::kFaster:
    case ChangeKind::kGone:
      return Tone::kGreen;
    case ChangeKind::kSame:
      break;
  }
  return Tone::kDim;
}

std::string KindText(const Change& change) {
  if (change.is_rest) return "";
  const ChangeKind kind = change.kind();
  if (kind == ChangeKind::kSlower || kind == ChangeKind::kFaster) {
    return change.a_ns > 0 ? SignedPercent(change.delta_ns() / change.a_ns) : "";
  }
  return std::string(ChangeKindName(kind));
}

// The `rows` largest changes, what the others sum up to, and the rest.
std::vector<Change> Shown(const ChangeList& list, size_t rows) {
  std::vector<Change> shown;
  Change others{.is_rest = true};
  size_t count = 0;
  for (const Change& change : list.changes) {
    if (change.is_rest || shown.size() < rows) {
      if (change.is_rest && count > 0) break;
      shown.push_back(change);
      continue;
    }
    ++count;
    others.a_ns += change.a_ns;
    others.b_ns += change.b_ns;
  }
  if (count > 0) {
    others.name = CountText(count) + (count == 1 ? " other" : " others");
    shown.push_back(others);
    if (list.changes.back().is_rest) shown.push_back(list.changes.back());
  }
  return shown;
}

TimesInOneUnit ColumnFor(const ChangeList& list) {
  double largest = std::max(std::abs(list.a_ns), std::abs(list.b_ns));
  for (const Change& change : list.changes) {
    largest = std::max({largest, std::abs(change.a_ns), std::abs(change.b_ns)});
  }
  return TimesInOneUnit(largest);
}

void WriteSide(SummaryText& out, const char* name, const DiffSide& side) {
  out.Put("  ").Put(name, Tone::kStrong).Put("  ");
  out.Put(ElideMiddle(CleanText(side.source), out.width() > 60 ? out.width() - 44 : 16));
  out.Put("  " + CountText(side.steps) + (side.steps == 1 ? " step" : " steps"), Tone::kDim);
  if (side.steps > 0) out.Put("  mean ", Tone::kDim).Put(TimeText(side.mean_ns), Tone::kStrong);
  out.EndLine();
}

void WriteList(SummaryText& out, const ChangeList& list, size_t rows) {
  const TimesInOneUnit time = ColumnFor(list);
  SummaryTable table(out, {{.header = "", .right = false},
                           {.header = "calls A", .least_width = 110},
                           {.header = "calls B", .least_width = 110},
                           {.header = time.Header("A")},
                           {.header = time.Header("B")},
                           {.header = "change"},
                           {.header = ""}});
  const bool is_kernel = list.key == "kernels";
  auto calls = [](double count) { return count == 0 ? "" : SignificantText(count); };
  for (const Change& change : Shown(list, rows)) {
    const Tone tone = change.is_rest ? Tone::kDim : Tone::kPlain;
    table.Row({{is_kernel && !change.is_rest ? KernelLabel(change.name) : change.name, tone},
               {calls(change.a_calls), Tone::kDim},
               {calls(change.b_calls), Tone::kDim},
               {time.Text(change.a_ns), tone},
               {time.Text(change.b_ns), tone},
               {Signed(change.delta_ns(), time.Text(change.delta_ns())), ToneOf(change)},
               {KindText(change), ToneOf(change)}});
  }
  const double delta = list.b_ns - list.a_ns;
  table.Row({{list.whole, Tone::kStrong},
             {},
             {},
             {time.Text(list.a_ns), Tone::kStrong},
             {time.Text(list.b_ns), Tone::kStrong},
             {Signed(delta, time.Text(delta)), Tone::kStrong},
             {list.a_ns > 0 ? SignedPercent(delta / list.a_ns) : "", Tone::kStrong}});
  table.Print(list.title);
}

void WriteCounters(SummaryText& out, const std::vector<CounterChange>& counters) {
  if (counters.empty()) return;
  SummaryTable table(
      out,
      {{.header = "", .right = false}, {.header = "A"}, {.header = "B"}, {.header = "change"}});
  for (const CounterChange& counter : counters) {
    table.Row({{counter.name},
               {CounterText(counter.a, counter.unit)},
               {CounterText(counter.b, counter.unit)},
               {counter.a == 0 ? "" : SignedPercent(counter.relative())}});
  }
  table.Print("Counters of a step, measured");
}

void WriteGates(SummaryText& out, const std::vector<GateResult>& gates) {
  if (gates.empty()) return;
  out.Title("Gates");
  for (const GateResult& gate : gates) {
    out.Put(gate.failed ? "  FAILED  " : "  passed  ", gate.failed ? Tone::kLoss : Tone::kGreen);
    out.Wrapped(gate.text + ": " + gate.finding, 10);
  }
}

}  // namespace

std::string DiffVerdict(const RunDiff& diff) {
  if (!diff.problem.empty()) return "cannot compare steps: " + diff.problem;
  const double delta = diff.delta_ns();
  if (!std::isfinite(diff.interval.low)) {
    return "B is " + std::string(delta > 0 ? "slower" : "faster") + " by " +
           TimeText(std::abs(delta)) + " (" + SignedPercent(diff.relative()) +
           "), but one step proves nothing: record more";
  }
  const std::string interval =
      "95 % interval " + SignedTime(diff.interval.low) + " to " + SignedTime(diff.interval.high);
  if (!diff.IsSure() || delta == 0) {
    return "no difference in step time: " + SignedTime(delta) + " (" +
           SignedPercent(diff.relative()) + "), " + interval;
  }
  return "B is " + std::string(delta > 0 ? "slower" : "faster") + " by " +
         TimeText(std::abs(delta)) + " a step (" + SignedPercent(diff.relative()) + "), " +
         interval;
}

std::string DiffAsText(const RunDiff& diff, const std::vector<GateResult>& gates,
                       const TerminalStyle& style, size_t rows) {
  SummaryText out(style);
  out.Line("batchlight diff", Tone::kTitle);
  WriteSide(out, "A", diff.a);
  WriteSide(out, "B", diff.b);
  out.EndLine();
  const Tone tone = !diff.problem.empty() ? Tone::kWarning
                    : !diff.IsSure()      ? Tone::kStrong
                    : diff.delta_ns() > 0 ? Tone::kLoss
                                          : Tone::kGreen;
  out.Wrapped(DiffVerdict(diff), 0, tone);
  if (!diff.differences.empty()) {
    SummaryTable table(out, {{.header = "", .right = false},
                             {.header = "A", .right = false},
                             {.header = "B", .right = false}});
    const size_t most = (out.width() - 24) / 2;
    for (const Difference& difference : diff.differences) {
      table.Row({{difference.what},
                 {ElideMiddle(CleanText(difference.a), most)},
                 {ElideMiddle(CleanText(difference.b), most)}});
    }
    table.Print("Not the same");
  }
  WriteCounters(out, diff.counters);
  for (const ChangeList& list : diff.lists) WriteList(out, list, rows);
  WriteGates(out, gates);
  return out.text();
}

}  // namespace batchlight
