// How a column is spelled in the dictionary: its name, then marks.
//
//   "nodeMask"    INTEGER       "name:T"  TEXT       "doubleValue:R"  REAL
//   "deviceId!"   NOT NULL      "id!P"    the primary key      "id!K"  a part of it
//   "clusterX?"   files rightly lack it: nothing is said about that
#pragma once

#include <string_view>

namespace batchlight::nsys {

class Spelling {
 public:
  // Not explicit, so that lists of columns can be written as plain strings.
  constexpr Spelling(const char* text) : text_(text) {}
  constexpr Spelling(std::string_view text) : text_(text) {}

  constexpr std::string_view name() const { return text_.substr(0, text_.find_first_of(":!?")); }
  constexpr bool is_text() const { return Marked(":T"); }
  constexpr bool is_real() const { return Marked(":R"); }
  constexpr bool is_required() const { return Marked("!"); }
  constexpr bool is_primary_key() const { return Marked("!P"); }
  constexpr bool is_part_of_key() const { return Marked("!K"); }
  constexpr bool may_lack() const { return Marked("?"); }

 private:
  constexpr bool Marked(std::string_view mark) const {
    return text_.find(mark) != std::string_view::npos;
  }
  std::string_view text_;
};

}  // namespace batchlight::nsys
