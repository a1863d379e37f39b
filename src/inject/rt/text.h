// Building short texts and hashing names without the C library's printf, malloc or locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace batchlight::inject {

// Appends to a fixed buffer, always NUL-terminated; ok() is false once something did not fit.
class Text {
 public:
  Text(char* buffer, size_t capacity) : at_(buffer), end_(buffer + capacity - 1) { *at_ = 0; }

  Text& Add(const char* text) { return Add(text, std::strlen(text)); }
  Text& Add(const char* text, size_t bytes) {
    if (bytes > static_cast<size_t>(end_ - at_)) {
      bytes = static_cast<size_t>(end_ - at_);
      ok_ = false;
    }
    std::memcpy(at_, text, bytes);
    at_ += bytes;
    *at_ = 0;
    return *this;
  }
  Text& Add(uint64_t number) {
    char digits[20];
    size_t first = sizeof digits;
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return Add(digits + first, sizeof digits - first);
  }
  bool ok() const { return ok_; }

 private:
  char* at_;
  char* end_;
  bool ok_ = true;
};

inline uint64_t LoadWord(const char* at) {
  uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}

// The last `bytes` % 8 bytes of a text as a word, zero-padded; reads inside the text only.
inline uint64_t LoadTail(const char* text, size_t bytes) {
  const size_t tail = bytes & 7;
  if (tail == 0) return 0;
  if (bytes >= 8) return LoadWord(text + bytes - 8) >> (8 * (8 - tail));
  if (tail >= 4) {
    uint32_t low, high;
    std::memcpy(&low, text, 4);
    std::memcpy(&high, text + tail - 4, 4);
    return low | uint64_t{high} << (8 * (tail - 4));
  }
  const auto* byte = reinterpret_cast<const unsigned char*>(text);
  return byte[0] | uint64_t{byte[tail / 2]} << (8 * (tail / 2)) |
         uint64_t{byte[tail - 1]} << (8 * (tail - 1));
}

// Both halves of a 128-bit product, folded: every bit of both factors reaches the result.
inline uint64_t FoldProduct(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// 64-bit hash, 16 bytes a step (as wyhash does). For tables inside one process only: an adversary
// who finds collisions slows himself down.
inline uint64_t HashBytes(const char* text, size_t bytes) {
  constexpr uint64_t kA = 0x9e3779b97f4a7c15, kB = 0xc2b2ae3d27d4eb4f;
  if (bytes < 8) return FoldProduct(LoadTail(text, bytes) ^ kA, bytes ^ kB);
  uint64_t hash = bytes * 0xff51afd7ed558ccd;  // else it would only flip low bits of the first word
  size_t i = 0;
  for (; i + 16 < bytes; i += 16) {
    hash = FoldProduct(LoadWord(text + i) ^ kA ^ hash, LoadWord(text + i + 8) ^ kB);
  }
  // The last 1-16 bytes, as two words that may overlap each other and what came before.
  const uint64_t first = bytes - i < 8 ? LoadWord(text + bytes - 8) : LoadWord(text + i);
  return FoldProduct(first ^ kA ^ hash, LoadWord(text + bytes - 8) ^ kB);
}

// Whether `padded` (zero-padded to 8 bytes, as records store text) holds exactly this text.
inline bool EqualPadded(const char* padded, const char* text, size_t bytes) {
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    if (LoadWord(padded + i) != LoadWord(text + i)) return false;
  }
  return (bytes & 7) == 0 || LoadWord(padded + i) == LoadTail(text, bytes);
}

}  // namespace batchlight::inject
