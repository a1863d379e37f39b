// What tests of the advice share.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/advice/advice.h"
#include "analysis/overview/run_overview.h"
#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

inline constexpr int64_t kMs = 1'000'000;

// nullptr: the rule has none.
inline const Finding* FindRule(const std::vector<Finding>& findings, std::string_view rule) {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& finding) { return finding.rule == rule; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace batchlight::testing
