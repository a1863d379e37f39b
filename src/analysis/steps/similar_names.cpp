#include "analysis/steps/similar_names.h"

#include <algorithm>
#include <unordered_map>

#include "base/nearest.h"

namespace batchlight {

std::string NamesLike(const Store& store, const std::string& key) {
  std::unordered_map<StringId, size_t> names;  // and how often each was seen
  constexpr size_t kMost = 20000;
  auto add = [&](const std::vector<StringId>& column) {
    for (size_t i = 0; i < column.size() && names.size() < kMost; ++i) ++names[column[i]];
  };
  add(store.phase_calls.name);
  add(store.nvtx_ranges.message);
  add(store.operator_calls.name);
  add(store.module_calls.path);
  std::vector<std::pair<size_t, std::string_view>> seen;
  for (const auto& [id, count] : names) {
    // "AdamW.step", as the summary calls it and EndsOfKey knows it.
    constexpr std::string_view kOptimizer = "Optimizer.step#";
    std::string_view name = store.Text(id);
    if (name.starts_with(kOptimizer)) name.remove_prefix(kOptimizer.size());
    seen.emplace_back(count, name.substr(0, 80));
  }
  std::sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string_view> known;
  for (const auto& [count, name] : seen) {
    if (!name.empty()) known.push_back(name);
  }
  const std::vector<std::string_view> near = NearestFew(key, known);
  if (!near.empty() || known.empty()) return DidYouMean(near) + (near.empty() ? "." : "");
  std::string text = "; the most frequent names are ";
  for (size_t i = 0; i < std::min<size_t>(5, known.size()); ++i) {
    text.append(i == 0 ? "" : ", ").append(known[i]);
  }
  return text + '.';
}

}  // namespace batchlight
