// Reads JSON in one pass over bytes in memory, without allocation: a pull parser for files far
// larger than memory, read window by window. Distinguishes "the window ended" from "this is not
// JSON", so that the caller can read more and try again.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>
#include <string>
#include <string_view>

namespace batchlight {

class JsonCursor {
 public:
  enum class State { kFine, kEnded, kMalformed };

  explicit JsonCursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  State state() const { return state_; }
  bool ok() const { return state_ == State::kFine; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  bool AtEnd() {
    SkipSpace();
    return at_ == end_;
  }

  // The next character that is not white space, without taking it; 0 at the end.
  char Peek() {
    SkipSpace();
    if (at_ == end_) state_ = State::kEnded;
    return at_ == end_ ? '\0' : *at_;
  }

  // Takes `wanted`, or fails.
  bool Expect(char wanted) {
    if (Peek() == wanted && ok()) {
      ++at_;
      return true;
    }
    return Fail();
  }

  // In an object, `first` before its first member: takes the comma, key and colon of the next
  // member, or the brace that ends it (false, with ok()). In an array likewise, without a key.
  bool NextMember(bool& first, std::string_view* key) {
    return Next(first, '}') && String(key) && Expect(':');
  }
  bool NextElement(bool& first) { return Next(first, ']'); }

  // A string without its quotes, its escapes unchanged (see UnescapeJson).
  bool String(std::string_view* raw) {
    if (!Expect('"')) return false;
    const char* begin = at_;
    while (true) {
      at_ = FindQuote(at_);
      if (at_ >= end_) return End();
      if (*at_ == '"') break;
      at_ += 2;  // a backslash and what it escapes
    }
    *raw = {begin, static_cast<size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  // Any value as it is written; a string with its quotes.
  bool Value(std::string_view* raw) {
    const char first = Peek();
    const char* begin = at_;
    if (first == '"') {
      std::string_view text;
      if (!String(&text)) return false;
    } else if (first == '{' || first == '[') {
      if (!Nested()) return false;
    } else if (!Scalar()) {
      return false;
    }
    *raw = {begin, static_cast<size_t>(at_ - begin)};
    return true;
  }

 private:
  bool Fail() {
    if (state_ == State::kFine) state_ = State::kMalformed;
    return false;
  }
  bool End() {
    at_ = end_;
    state_ = State::kEnded;
    return false;
  }

  void SkipSpace() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool Next(bool& first, char closing) {
    const char next = Peek();
    if (!ok()) return false;
    if (next == closing) {
      ++at_;
      return false;
    }
    if (!first) {
      if (next != ',') return Fail();
      ++at_;
    }
    first = false;
    return true;
  }

  // The next quote or backslash, or the end.
  const char* FindQuote(const char* from) const {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    for (; end_ - from >= 16; from += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      const int found = _mm_movemask_epi8(
          _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
      if (found != 0) return from + __builtin_ctz(static_cast<unsigned>(found));
    }
#endif
    while (from < end_ && *from != '"' && *from != '\\') ++from;
    return from;
  }

  // An object or array, by counting brackets outside of strings.
  bool Nested() {
    int depth = 0;
    while (at_ < end_) {
      const char c = *at_;
      if (c == '"') {
        std::string_view text;
        if (!String(&text)) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return true;
    }
    return End();
  }

  bool Scalar() {
    const char* begin = at_;
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ > ' ') ++at_;
    if (at_ == end_) return End();
    return at_ != begin || Fail();
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  State state_ = State::kFine;
};

// The text of a raw string: \n \uXXXX and the like are replaced, surrogate pairs joined; a broken
// escape is left unchanged.
std::string UnescapeJson(std::string_view raw);

}  // namespace batchlight
