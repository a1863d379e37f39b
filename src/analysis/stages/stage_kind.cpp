#include "analysis/stages/stage_kind.h"

namespace batchlight {
namespace {

struct Texts {
  std::string_view name;
  std::string_view key;
};

// By number.
constexpr Texts kTexts[] = {
#define STAGE_KIND(Name, name, key) {name, key},
#include "analysis/stages/stage_kinds.def"
#undef STAGE_KIND
};

}  // namespace

std::string_view StageKindName(StageKind kind) { return kTexts[static_cast<size_t>(kind)].name; }

std::string_view StageKindKey(StageKind kind) { return kTexts[static_cast<size_t>(kind)].key; }

}  // namespace batchlight
