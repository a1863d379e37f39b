// "Did you mean ...?": the closest of a list of known words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight {

// The known word with the smallest edit distance to `word`, if at most a third of its letters (and
// at least one may) differ; a known word that begins with `word` also counts. Empty if none does.
std::string Nearest(std::string_view word, const std::vector<std::string_view>& known);

// Up to `count` of `known`, closest first; a word that holds `word`, or is held by it, is close.
std::vector<std::string_view> NearestFew(std::string_view word,
                                         const std::vector<std::string_view>& known,
                                         size_t count = 3);

// "; did you mean a, b or c?", "" for none.
std::string DidYouMean(const std::vector<std::string_view>& words);

// The same of the nearest few; "; there are a, b, c" if none is near.
std::string NearestOrAll(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace batchlight
