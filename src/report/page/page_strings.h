// The strings of the page, each held once; tables and the tree refer to them by number.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>

#include "report/tables/csv.h"
#include "report/text/utf8.h"

namespace batchlight {

class PageStrings {
 public:
  // Longer ones lose their middle.
  explicit PageStrings(size_t longest) : longest_(longest) {}

  size_t Add(const std::string& text) {
    const auto [at, is_new] = rows_.try_emplace(text, rows_.size());
    if (is_new) texts_.push_back(ElideMiddle(CleanText(text), longest_));
    return at->second;
  }
  // nullopt: nothing refers to it.
  std::optional<size_t> Find(const std::string& text) const {
    const auto at = rows_.find(text);
    return at == rows_.end() ? std::nullopt : std::optional(at->second);
  }
  nlohmann::json& texts() { return texts_; }

 private:
  size_t longest_;
  nlohmann::json texts_ = nlohmann::json::array();
  std::unordered_map<std::string, size_t> rows_;
};

}  // namespace batchlight
