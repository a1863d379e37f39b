#include "native/dwarf_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/demangled.h"

namespace batchlight::native {
namespace {

constexpr int kMostReferences = 16;
constexpr size_t kMostScopes = 64;
constexpr size_t kMostScopeBytes = 4096;
constexpr size_t kMostKeptNameBytes = 8192;
// What a byte of a name costs beside one of an entry: to demangle it, and memory to keep it.
constexpr uint64_t kDemanglingWork = 32;
constexpr uint64_t kNameWork = 8;

// C's functions are in no namespace and no class.
bool HasScopes(uint64_t language) {
  constexpr std::array<uint64_t, 6> kC = {0x01, 0x02, 0x0c, 0x1d, 0x2c, 0x3e};
  return std::find(kC.begin(), kC.end(), language) == kC.end();
}

bool IsScope(uint32_t tag) {
  return tag == kTagNamespace || tag == kTagClass || tag == kTagStructure || tag == kTagUnion ||
         tag == kTagSubprogram;
}

}  // namespace

uint32_t DwarfNames::NumberOf(uint64_t place) {
  const auto [found, added] = numbers_.try_emplace(place, static_cast<uint32_t>(places_.size()));
  if (added) places_.push_back(place);
  return found->second;
}

// An inlined call refers to the function in general, and that, of a member, to its declaration.
DwarfNames::Own DwarfNames::OwnNameOf(uint64_t place) {
  Own own;
  for (int i = 0; i < kMostReferences && place != UINT64_MAX; ++i) {
    const DwarfUnit* const unit = info_.UnitOf(place);
    DwarfEntry entry;
    if (unit == nullptr || !info_.EntryAt(place, &entry)) break;
    if (own.linkage.empty()) own.linkage = info_.TextOf(*unit, entry.linkage_name);
    if (own.name.empty()) own.name = info_.TextOf(*unit, entry.name);
    if (!info_.work().Take(own.linkage.size() + own.name.size())) break;
    own.place = place;
    place = info_.PlaceOf(*unit, entry.origin.form != 0 ? entry.origin : entry.specification);
  }
  return own;
}

std::vector<std::string> DwarfNames::Find() {
  std::vector<std::string> names(places_.size());
  std::map<const DwarfUnit*, Wanted> unqualified;
  for (uint32_t number = 0; number < places_.size(); ++number) {
    const Own own = OwnNameOf(places_[number]);
    if (!info_.work().Take(own.linkage.size() * kDemanglingWork + own.name.size())) break;
    names[number] = own.linkage.empty() ? own.name : DemangledName(own.linkage);
    names[number].resize(std::min(names[number].size(), kMostKeptNameBytes));
    if (!info_.work().Take(names[number].size() * kNameWork)) break;
    if (!own.linkage.empty()) continue;
    const DwarfUnit* const unit = own.name.empty() ? nullptr : info_.UnitOf(own.place);
    if (unit != nullptr && HasScopes(unit->language)) {
      unqualified[unit][own.place].push_back(number);
    }
  }
  for (const auto& [unit, wanted] : unqualified) Qualify(*unit, wanted, names);
  return names;
}

// What has no name for the linker, being of one file alone, has not the scopes that it lies in
// either: they are the entries around.
void DwarfNames::Qualify(const DwarfUnit& unit, const Wanted& wanted,
                         std::vector<std::string>& names) {
  const auto table = info_.AbbreviationsOf(unit);
  ByteReader reader = info_.ReaderOf(unit);
  std::vector<Scope> scopes;
  size_t depth = 0;
  auto next = wanted.begin();
  while (next != wanted.end() && !reader.at_end()) {
    const size_t at = reader.place();
    const uint64_t code = reader.Uleb();
    if (code == 0) {
      if (depth == 0) return;
      --depth;
      if (!scopes.empty() && scopes.back().depth == depth) scopes.pop_back();
      if (!info_.work().Take(1)) return;
      continue;
    }
    const auto* const abbreviation = table->Find(code);
    if (abbreviation == nullptr || !info_.SkipEntry(unit, *table, *abbreviation, reader)) return;
    if (!info_.work().Take(reader.place() - at)) return;
    if (unit.begin + at == next->first) {
      for (const uint32_t number : next->second) {
        names[number] = (ScopeText(scopes) + names[number]).substr(0, kMostKeptNameBytes);
        if (!info_.work().Take(names[number].size() * kNameWork)) return;
      }
      ++next;
    } else if (unit.begin + at > next->first) {
      ++next;  // in the middle of an entry
    }
    if (!abbreviation->has_children) continue;
    if (IsScope(abbreviation->tag) && scopes.size() < kMostScopes) {
      scopes.push_back({depth, unit.begin + at});
    }
    ++depth;
  }
}

std::string DwarfNames::ScopeText(const std::vector<Scope>& scopes) {
  std::string text;
  for (const Scope& scope : scopes) {
    DwarfEntry entry;
    if (!info_.EntryAt(scope.place, &entry)) return text;
    Own own = OwnNameOf(scope.place);
    if (own.name.empty()) {  // else a class: of a lambda, most likely
      own.name = entry.tag == kTagNamespace ? "(anonymous namespace)" : "{unnamed}";
    }
    text += own.name + "::";
    if (text.size() > kMostScopeBytes) break;
  }
  return text;
}

}  // namespace batchlight::native
