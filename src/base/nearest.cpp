#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace batchlight {
namespace {

// Edits between the words: letters added, dropped, replaced, and neighbours swapped.
size_t Distance(std::string_view a, std::string_view b) {
  const size_t columns = b.size() + 1;
  std::vector<size_t> table((a.size() + 1) * columns);
  const auto at = [&](size_t i, size_t j) -> size_t& { return table[i * columns + j]; };
  for (size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
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
                                         const std::vector<std::string_view>& known, size_t count) {
  std::vector<std::pair<size_t, std::string_view>> scored;
  for (const std::string_view candidate : known) {
    size_t score = Distance(word, candidate);
    constexpr size_t kFewLetters = 3;  // fewer are in any word
    const bool holds =
        !word.empty() &&
        (candidate.find(word) != std::string_view::npos ||
         (candidate.size() >= kFewLetters && word.find(candidate) != std::string_view::npos));
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

std::string NearestOrAll(std::string_view word, const std::vector<std::string_view>& known) {
  const std::vector<std::string_view> near = NearestFew(word, known);
  if (!near.empty() || known.empty()) return DidYouMean(near);
  std::string text = "; there are ";
  for (size_t i = 0; i < known.size(); ++i) text.append(i == 0 ? "" : ", ").append(known[i]);
  return text;
}

}  // namespace batchlight
