// Python's pickle format, protocol 2, which every Python 3 reads.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/json_text.h"
#include "export/text_buffer.h"

namespace batchlight {

class Pickle {
 public:
  // `out` outlives this. Begin and End enclose the one object of the file.
  explicit Pickle(TextBuffer& out) : out_(out) {}

  void Begin() { Op("\x80\x02"); }
  void End() { Op("."); }
  void Op(std::string_view bytes) { out_ << bytes; }

  void Text(std::string_view text) {
    out_ << 'X';
    Bytes(text.size(), 4);
    out_ << text;
  }
  // A text that comes again and again, such as a key: written once. Made valid UTF-8.
  void Shared(std::string_view text) {
    const auto [place, added] = texts_.try_emplace(std::string(text), next_);
    if (!added) return Get(place->second);
    Text(ValidUtf8(text));
    Put();
  }
  void Number(uint64_t value) {  // LONG1, with room for a sign
    out_ << '\x8a' << '\x09';
    Bytes(value, 8);
    out_ << '\0';
  }
  void Real(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    out_ << 'G';
    for (int shift = 56; shift >= 0; shift -= 8) out_ << static_cast<char>(bits >> shift & 0xff);
  }
  void Bool(bool value) { out_ << (value ? '\x88' : '\x89'); }

  // Pairs of key and value, or items, stand between Begin and End.
  void BeginDict() { Op("}("); }
  void EndDict() { Op("u"); }
  void BeginList() { Op("]("); }
  void EndList() { Op("e"); }
  // The last 2 or 3 values become a tuple.
  void Tuple(int size) { Op(size == 2 ? "\x86" : "\x87"); }

  // Keeps the value that was written last under the number that it returns, for Get().
  uint32_t Put() {
    out_ << 'r';
    Bytes(next_, 4);
    return next_++;
  }
  void Get(uint32_t number) {
    out_ << 'j';
    Bytes(number, 4);
  }

 private:
  void Bytes(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) out_ << static_cast<char>(value >> 8 * i & 0xff);
  }

  TextBuffer& out_;
  std::unordered_map<std::string, uint32_t> texts_;
  uint32_t next_ = 0;
};

}  // namespace batchlight
