// What is missing from a recording, and what to do about it. Shown first in every view.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace batchlight {

// As in counters.def, which has no notices: those say how several files were read as one job, and
// nothing is missing because of them.
enum class LossSeverity : uint8_t { kInfo, kNotice, kError, kDataLoss };

// "info", "notice", "error", "data_loss": in JSON and on the pages.
std::string_view SeverityName(LossSeverity severity);

struct LossWarning {
  LossSeverity severity = LossSeverity::kInfo;
  uint32_t counter = 0;    // of counters.def; 0: a reason given in words
  std::string name;        // EventsDroppedBudget; of a reason: the feature
  uint64_t value = 0;      // over all processes
  uint32_t processes = 0;  // that report it
  std::string text;        // "12,345 events dropped because the memory budget was used up"
  std::string advice;      // "raise --buffer-budget"; may be empty
};

// By falling severity. Counters of severity Info that need no action are left out unless `all`.
std::vector<LossWarning> FindLosses(const Store& store, bool all = false);

}  // namespace batchlight
