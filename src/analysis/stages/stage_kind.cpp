#include "analysis/stages/stage_kind.h"

namespace batchlight {

std::string_view StageKindName(StageKind kind) {
  switch (kind) {
#define STAGE_KIND(Name, name, key) \
  case StageKind::k##Name:          \
    return name;
#include "analysis/stages/stage_kinds.def"
#undef STAGE_KIND
  }
  return {};
}

std::string_view StageKindKey(StageKind kind) {
  switch (kind) {
#define STAGE_KIND(Name, name, key) \
  case StageKind::k##Name:          \
    return key;
#include "analysis/stages/stage_kinds.def"
#undef STAGE_KIND
  }
  return {};
}

}  // namespace batchlight
