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

// Runs all rules, as BuildOverview does for RunMeasures::findings; by FindingRank.
std::vector<Finding> FindAdvice(const RunMeasures& run);

struct CombinedGain {
  double share = 0;      // 0: fewer than two findings with a gain
  bool of_step = false;  // of the mean step; else of the loop or the run
  bool of_loop = false;  // of the steps and what lies between them
};
// What these findings, in FindAdvice's order, save together: of a step where all of them shorten
// steps, of the loop where none is paid once. Of those that shorten the same time only the first
// counts.
CombinedGain GainTogether(std::span<const Finding> findings);

}  // namespace batchlight
