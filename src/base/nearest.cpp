#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace batchlight {
namespace {

// Levenshtein distance, one row of the table at a time.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || word.size() < 3) return std::string(best);
  for (const std::string_view candidate : known) {
    if (candidate.starts_with(word)) return std::string(candidate);
  }
  return {};
}

std::vector<std::string_view> NearestFew(std::string_view word,
                                         const std::vector<std::string_view>& known,
                                         size_t count) {
  std::vector<std::pair<size_t, std::string_view>> scored;
  for (const std::string_view candidate : known) {
    size_t score = Distance(word, candidate);
    const bool holds = !word.empty() && (candidate.find(word) != std::string_view::npos ||
                                         word.find(candidate) != std::string_view::npos);
    if (holds) score = std::min<size_t>(score, 2);
    if (score <= std::max(word.size(), candidate.size()) / 2) scored.emplace_back(score, candidate);
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string_view> nearest;
  for (size_t i = 0; i < std::min(count, scored.size()); ++i) nearest.push_back(scored[i].second);
  return nearest;
}

std::string DidYouMean(const std::vector<std::string_view>& words) {
  if (words.empty()) return {};
  std::string text = "; did you mean ";
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text + '?';
}

}  // namespace batchlight
