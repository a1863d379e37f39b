// Stages of a process as a list without gaps, onto which later findings are laid.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/stages/stages.h"

namespace batchlight {

// Makes `over` stages of `kind`, whatever they were; what lies outside of `stages` is left out.
// Touching stretches of one kind become one. Both are ordered; `over` does not overlap.
std::vector<StageSpan> Paint(const std::vector<StageSpan>& stages,
                             const std::vector<TimeSpan>& over, StageKind kind);

}  // namespace batchlight
