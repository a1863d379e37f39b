// The rules that find what to change (analysis/advice/finding.h), each with what it looks for.
#pragma once

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

// Runs all rules, as BuildOverview does for RunMeasures::findings; findings by falling gain, those
// without an estimate last.
std::vector<Finding> FindAdvice(const RunMeasures& run);

}  // namespace batchlight
