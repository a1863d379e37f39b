#include "analysis/advice/order.h"

#include <algorithm>

#include "analysis/advice/thresholds.h"

namespace batchlight::advice {
namespace {

// A run that is profiled is often made short for that: what it pays once is no reason to look away
// from its loop.
FindingRank RankOf(const Finding& finding) {
  if (finding.kind == FindingKind::kSymptom) return FindingRank::kSymptom;
  if (finding.kind == FindingKind::kMachine) return FindingRank::kMachine;
  const bool worth =
      std::max({finding.step_share, finding.run_share, finding.loop_share}) >= kWorthFirst;
  return finding.kind == FindingKind::kCause && worth ? FindingRank::kOfTheLoop
                                                      : FindingRank::kOther;
}

// What every eager program is told stands above causes of a program's own by what it surely gains.
double ShareInOrder(const Finding& finding) {
  const bool of_all = finding.rule == "unfused-pointwise" || finding.rule == "launch-bound";
  if (!of_all || finding.gain_ns <= 0) return finding.run_share;
  return finding.run_share * (1 - finding.uncertainty_ns / finding.gain_ns);
}

bool StandsAbove(const Finding& a, const Finding& b) {
  return a.rank != b.rank ? a.rank < b.rank : ShareInOrder(a) > ShareInOrder(b);
}

}  // namespace

void PutInOrder(std::vector<Finding>* findings) {
  for (Finding& finding : *findings) finding.rank = RankOf(finding);
  std::stable_sort(findings->begin(), findings->end(), StandsAbove);
}

}  // namespace batchlight::advice
