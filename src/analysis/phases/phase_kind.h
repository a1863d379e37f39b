// The kinds of phases that a training step consists of, and the names that people use for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace batchlight {

enum class PhaseKind : uint8_t {
#define PHASE_KIND(Name, name, key) k##Name,
#include "analysis/phases/phase_kinds.def"
#undef PHASE_KIND
};

std::string_view PhaseKindName(PhaseKind kind);  // "data loading"
std::string_view PhaseKindKey(PhaseKind kind);   // "data_loading", for files

// Whole stretches in which the model is called and learns nothing.
constexpr bool IsEvaluation(PhaseKind kind) {
  return kind == PhaseKind::kValidation || kind == PhaseKind::kRollout;
}
// What a longer sample or a larger batch lengthens: the model, not the optimizer.
constexpr bool IsOfModel(PhaseKind kind) {
  return kind == PhaseKind::kForward || kind == PhaseKind::kLoss || kind == PhaseKind::kBackward;
}
constexpr bool IsOfOptimizer(PhaseKind kind) {
  return kind == PhaseKind::kOptimizer || kind == PhaseKind::kZeroGrad;
}

// What a range of this name is for; kOther if the name does not say.
PhaseKind PhaseOfRangeName(std::string_view name);

}  // namespace batchlight
