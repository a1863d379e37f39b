// The rules that find what to change (analysis/advice/finding.h), each with what it looks for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/run/run_measures.h"

namespace batchlight {

struct AdviceRule {
  std::string_view id;
  std::string sentence;  // what it looks for and when it fires
  void (*find)(const RunMeasures& run, std::vector<Finding>* findings);
};

// Every rule, in the order of rules.def.
const std::vector<AdviceRule>& AdviceRules();

// Runs all rules, as BuildOverview does for RunMeasures::findings. Causes come by falling share of
// the run that they save, those without an estimate after them, symptoms last.
std::vector<Finding> FindAdvice(const RunMeasures& run);

// What these findings, in FindAdvice's order, save together, as a share of the run: of those that
// shorten the same time only the first counts. 0: fewer than two are left.
double CombinedShare(std::span<const Finding> findings);

}  // namespace batchlight
