#include "report/text/told_apart.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "report/text/utf8.h"

namespace batchlight {
namespace {

using Rows = std::vector<size_t>;

bool IsOfWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '.' || byte >= 0x80;
}

std::vector<std::string_view> WordsOf(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && IsOfWord(name[end])) ++end;
    if (end > at) words.push_back(name.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

// The word of `name` at the first place where words of the names of `rows` differ; "": nowhere.
std::string FirstDifference(size_t row, const Rows& rows, const std::vector<std::string>& full) {
  const std::vector<std::string_view> own = WordsOf(full[row]);
  for (size_t place = 0; place < own.size(); ++place) {
    for (const size_t other : rows) {
      const std::vector<std::string_view> theirs = WordsOf(full[other]);
      if (place >= theirs.size() || theirs[place] != own[place]) return std::string(own[place]);
    }
  }
  return "";
}

std::map<std::string, Rows> RowsByText(const std::vector<std::string>& texts) {
  std::map<std::string, Rows> rows;
  for (size_t row = 0; row < texts.size(); ++row) rows[texts[row]].push_back(row);
  return rows;
}

// Characters that all of `rows` begin with.
size_t CommonStart(const Rows& rows, const std::vector<std::string>& texts) {
  size_t bytes = texts[rows.front()].size();
  for (const size_t row : rows) {
    const auto differs = std::mismatch(texts[row].begin(), texts[row].end(),
                                       texts[rows.front()].begin(), texts[rows.front()].end());
    bytes = std::min(bytes, static_cast<size_t>(differs.first - texts[row].begin()));
  }
  return CharacterCount(std::string_view(texts[rows.front()]).substr(0, bytes));
}

}  // namespace

void TellApart(std::vector<std::string>& shown, const std::vector<std::string>& full) {
  for (const auto& [text, rows] : RowsByText(shown)) {
    if (rows.size() < 2) continue;
    for (const size_t row : rows) {
      const std::string word = FirstDifference(row, rows, full);
      if (!word.empty()) shown[row] += " (" + word + ')';
    }
  }
}

std::vector<std::string> CutApart(const std::vector<std::string>& texts, size_t width,
                                  std::string (*cut)(std::string_view, size_t)) {
  constexpr size_t kBefore = 2;  // of what is common
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(cut(text, width));
  for (const auto& [text, rows] : RowsByText(out)) {
    const bool alike = std::all_of(rows.begin(), rows.end(),
                                   [&](size_t row) { return texts[row] == texts[rows.front()]; });
    if (alike || width < 8) continue;
    const size_t tail = (width - 1) / 2;
    const size_t head = width - 1 - tail;
    const size_t start = CommonStart(rows, texts);
    for (const size_t row : rows) {
      const std::string_view whole = texts[row];
      const size_t count = CharacterCount(whole);
      const size_t from =
          std::max(head, std::min(start - std::min(start, kBefore), count - std::min(count, tail)));
      out[row] = std::string(whole.substr(0, OffsetOf(whole, head))) + "…" +
                 CutEnd(whole.substr(OffsetOf(whole, from)), tail);
    }
  }
  return out;
}

}  // namespace batchlight
