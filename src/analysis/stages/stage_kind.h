// What a program does at a time of its life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace batchlight {

enum class StageKind : uint8_t {
#define STAGE_KIND(Name, name, key) k##Name,
#include "analysis/stages/stage_kinds.def"
#undef STAGE_KIND
};

inline constexpr size_t kStageKinds = 0
#define STAGE_KIND(Name, name, key) +1
#include "analysis/stages/stage_kinds.def"
#undef STAGE_KIND
    ;

// What a loop does beside its iterations, and is none of the others.
constexpr bool IsBetween(StageKind kind) {
  return kind == StageKind::kBetweenEpochs || kind == StageKind::kBetweenSteps;
}

std::string_view StageKindName(StageKind kind);  // "start-up"
std::string_view StageKindKey(StageKind kind);   // "start_up", for files

}  // namespace batchlight
