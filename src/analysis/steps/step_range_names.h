// What the name of a range says about steps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

// A range name without its numbers: "Step 12/100" -> base "step_#_#", number 12 (the first run of
// digits that follows a word).
struct RangeName {
  std::string base;
  int64_t number = -1;  // -1: none
};
RangeName SplitRangeName(std::string_view name);
// step, train_step, iteration, batch, ProfilerStep#, ...
bool IsStepRangeName(std::string_view base);

}  // namespace batchlight
