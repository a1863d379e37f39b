// Bytes as text of 64 letters (RFC 4648), for what must not hold any byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace batchlight {
namespace base64_letters {

inline constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
inline constexpr uint8_t kNoLetter = 64;

constexpr std::array<uint8_t, 256> Values() {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNoLetter;
  for (uint8_t i = 0; i < 64; ++i) values[static_cast<uint8_t>(kLetters[i])] = i;
  return values;
}

}  // namespace base64_letters

inline std::string Base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = i; k < i + 3; ++k) {
      group = group << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool filled = i + k <= bytes.size();  // k letters hold k - 1 bytes
      text += filled ? base64_letters::kLetters[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

// Nothing: other letters, or padding that is not at the end.
inline std::optional<std::string> FromBase64(std::string_view text) {
  static constexpr std::array<uint8_t, 256> kValues = base64_letters::Values();
  if (text.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t group = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    const uint8_t value = kValues[static_cast<uint8_t>(letter)];
    if (value == base64_letters::kNoLetter) return std::nullopt;
    group = group << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 0xff);
  }
  return bytes;
}

}  // namespace batchlight
