#include "cli/engines/census.h"

#include <set>

namespace batchlight::cli {
namespace {

constexpr char kHere[] = "";

}  // namespace

bool ViewsDiffer(const Views& views) {
  std::map<std::string, SeenInput> first;
  std::set<std::string> elsewhere;
  for (const auto& [place, inputs] : views) {
    for (const SeenInput& input : inputs) {
      if (place != kHere) elsewhere.insert(input.path);
      if (first.try_emplace(input.path, input).first->second != input) return true;
    }
  }
  const auto here = views.find(kHere);
  if (here == views.end()) return false;
  for (const SeenInput& input : here->second) {
    if (!elsewhere.contains(input.path)) return true;
  }
  return false;
}

std::vector<EngineInput> InputsOf(const Views& views) {
  std::vector<EngineInput> all;
  std::map<SeenInput, size_t> known;
  for (const auto& [place, inputs] : views) {  // "" comes first
    for (const SeenInput& input : inputs) {
      const auto [at, added] = known.try_emplace(input, all.size());
      if (added) all.push_back({.seen = input, .places = {}});
      if (place != kHere) all[at->second].places.push_back(place);
    }
  }
  return all;
}

}  // namespace batchlight::cli
