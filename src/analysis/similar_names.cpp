// "did you mean": names of the recording that are like one that is not there.
#include <unordered_set>

#include "analysis/step_finders.h"
#include "base/nearest.h"

namespace batchlight {

std::string NamesLike(const Store& store, const std::string& key) {
  std::unordered_set<StringId> names;
  constexpr size_t kMost = 20000;
  auto add = [&](const std::vector<StringId>& column) {
    for (size_t i = 0; i < column.size() && names.size() < kMost; ++i) names.insert(column[i]);
  };
  add(store.phase_calls.name);
  add(store.nvtx_ranges.message);
  add(store.operator_calls.name);
  std::vector<std::string_view> known;
  for (const StringId id : names) known.push_back(store.Text(id).substr(0, 80));
  return DidYouMean(NearestFew(key, known));
}

}  // namespace batchlight
