// "did you mean": names of the recording that are like one that is not there.
#include <algorithm>
#include <unordered_set>

#include "analysis/step_finders.h"

namespace batchlight {
namespace {

// Levenshtein distance, letters compared without case.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = (a[i - 1] | 0x20) == (b[j - 1] | 0x20);
      const size_t change = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NamesLike(const Store& store, const std::string& key) {
  std::unordered_set<StringId> names;
  constexpr size_t kMost = 20000;
  auto add = [&](const std::vector<StringId>& column) {
    for (size_t i = 0; i < column.size() && names.size() < kMost; ++i) names.insert(column[i]);
  };
  add(store.phase_calls.name);
  add(store.nvtx_ranges.message);
  add(store.operator_calls.name);
  std::vector<std::pair<size_t, std::string_view>> similar;
  for (const StringId id : names) {
    const std::string_view name = store.Text(id).substr(0, 80);
    const bool part = name.find(key) != std::string_view::npos;
    const size_t distance = part ? 1 : Distance(key, name);
    if (distance <= std::max<size_t>(2, key.size() / 3)) similar.emplace_back(distance, name);
  }
  std::sort(similar.begin(), similar.end());
  if (similar.empty()) return "";
  std::string text = "; similar names: ";
  for (size_t i = 0; i < std::min<size_t>(3, similar.size()); ++i) {
    if (i > 0) text += ", ";
    text += similar[i].second;
  }
  return text;
}

}  // namespace batchlight
