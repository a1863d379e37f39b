// How much longer steps of one kind take than steps of another, where both kinds alternate in one
// run: recorded steps and steps without detail.
//
// Each of the rarer kind is compared with the median of its neighbours of the other kind, as many
// before as after, so that a run that gets slower or faster does not matter. The answer is the
// median of these differences. Its interval is that of the sign test: it needs no assumption on how
// step times are distributed (outliers, batches of several lengths), and holds the truth in at
// least 96 of 100 runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace batchlight {

struct AlternatingStep {
  double ns = 0;
  bool longer = false;  // of the kind that is expected to take longer
};

struct LongerBy {
  double ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  size_t samples = 0;  // steps of the rarer kind that could be compared
};

// `steps`: in order, only those that are to be compared. Nothing where there are too few.
std::optional<LongerBy> CompareAlternating(const std::vector<AlternatingStep>& steps);

}  // namespace batchlight
