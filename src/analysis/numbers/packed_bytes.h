// Numbers and texts as few bytes: whole numbers by seven bits a byte, columns as differences. What
// is read is not trusted: after the first error all is 0 and empty.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace batchlight {

class PackedWriter {
 public:
  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void Signed(int64_t value) {
    Number(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void Real(double value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof bytes);
  }
  void Text(std::string_view text) {
    Number(text.size());
    bytes_ += text;
  }
  void Bytes(std::string_view bytes) { bytes_ += bytes; }
  // Differences from the value before.
  template <typename T>
  void Column(const std::vector<T>& values) {
    Number(values.size());
    int64_t before = 0;
    for (const T value : values) {
      const auto now = static_cast<int64_t>(value);
      Signed(now - before);
      before = now;
    }
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t Number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return Fail();
  }
  int64_t Signed() {
    const uint64_t value = Number();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  double Real() {
    double value = 0;
    if (bytes_.size() < sizeof value) return static_cast<double>(Fail());
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  template <typename T>
  T As() {
    const uint64_t value = Number();
    return value <= std::numeric_limits<T>::max() ? static_cast<T>(value) : static_cast<T>(Fail());
  }
  std::string Text() {
    const size_t size = Count();
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  // Of things that take a byte at least.
  size_t Count() {
    const uint64_t count = Number();
    return count <= bytes_.size() ? static_cast<size_t>(count) : static_cast<size_t>(Fail());
  }
  // The bytes of so many numbers.
  std::string_view Numbers(size_t count) {
    size_t size = 0, numbers = 0;
    for (; size < bytes_.size() && numbers < count; ++size) {
      if (static_cast<uint8_t>(bytes_[size]) < 0x80) ++numbers;
    }
    if (numbers < count) Fail();
    const std::string_view taken = bytes_.substr(0, failed_ ? 0 : size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  void Column(std::vector<T>& values) {
    const size_t count = Count();
    values.reserve(count);
    int64_t now = 0;
    for (size_t i = 0; i < count; ++i) {
      if (__builtin_add_overflow(now, Signed(), &now) || !Holds<T>(now)) {
        Fail();
        return values.clear();
      }
      values.push_back(static_cast<T>(now));
    }
  }

  // For a caller that found what cannot be. Gives 0.
  uint64_t Fail() {
    failed_ = true;
    bytes_ = {};
    return 0;
  }
  bool ok() const { return !failed_; }

 private:
  template <typename T>
  static bool Holds(int64_t value) {
    if constexpr (std::is_same_v<T, int64_t>) return true;
    return value >= 0 && static_cast<uint64_t>(value) <= std::numeric_limits<T>::max();
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace batchlight
