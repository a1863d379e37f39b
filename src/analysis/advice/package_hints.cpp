#include "analysis/advice/package_hints.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/advice/thresholds.h"
#include "analysis/lines/source_place.h"

namespace batchlight::advice {
namespace {

enum Kind : uint8_t {
#define HINT(kind, before_workers, text) kind,
#define MODULE(name, kind)
#include "analysis/advice/package_hints.def"
#undef HINT
#undef MODULE
  kKinds
};

struct Hint {
  std::string_view text;
  bool before_workers;
};

constexpr Hint kHints[] = {
#define HINT(kind, before_workers, text) {text, before_workers},
#define MODULE(name, kind)
#include "analysis/advice/package_hints.def"
#undef HINT
#undef MODULE
};

struct KnownModule {
  std::string_view name;
  Kind kind;
};

constexpr KnownModule kModules[] = {
#define HINT(kind, before_workers, text)
#define MODULE(name, kind) {name, kind},
#include "analysis/advice/package_hints.def"
#undef HINT
#undef MODULE
};

Kind KindOf(std::string_view module) {
  const auto* const found =
      std::find_if(std::begin(kModules), std::end(kModules),
                   [&](const KnownModule& one) { return one.name == module; });
  return found == std::end(kModules) ? kKinds : found->kind;
}

}  // namespace

PackageHint HintFor(const Store& store, const SampledTime& time) {
  std::array<int64_t, kKinds + 1> ns{};
  for (const SampledFunction& function : time.innermost) {
    ns[KindOf(InstalledModule(store.Text(function.file)))] += function.ns;
  }
  const auto most = std::max_element(ns.begin(), ns.end() - 1);
  if (*most == 0 || double(*most) < kHintShare * double(time.all_ns)) return {};
  const Hint& hint = kHints[most - ns.begin()];
  return {.text = std::string(hint.text), .before_workers = hint.before_workers};
}

}  // namespace batchlight::advice
