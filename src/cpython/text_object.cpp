#include "cpython/text_object.h"

namespace batchlight::cpython {
namespace {

// Fields of PyASCIIObject::state, the same from 3.8 to 3.14.
constexpr uint32_t Kind(uint32_t state) { return state >> 2 & 7; }  // bytes of a character
constexpr bool IsCompact(uint32_t state) { return (state >> 5 & 1) != 0; }
constexpr bool IsAscii(uint32_t state) { return (state >> 6 & 1) != 0; }

// Writes a character's UTF-8; lone surrogates become '?'.
size_t Encode(uint32_t character, char* to) {
  if (character >= 0xd800 && character < 0xe000) character = '?';
  if (character < 0x80) {
    to[0] = static_cast<char>(character);
    return 1;
  }
  const size_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (size_t i = bytes - 1; i > 0; --i) {
    to[i] = static_cast<char>(0x80 | (character & 0x3f));
    character >>= 6;
  }
  to[0] = static_cast<char>((0xf00 >> bytes & 0xff) | character);
  return bytes;
}

uint32_t CharacterAt(const void* characters, size_t i, uint32_t bytes_each) {
  switch (bytes_each) {
    case 1:
      return static_cast<const uint8_t*>(characters)[i];
    case 2:
      return static_cast<const uint16_t*>(characters)[i];
    default:
      return static_cast<const uint32_t*>(characters)[i];
  }
}

}  // namespace

TextView ReadText(const FrameLayout& layout, const void* object, char (&buffer)[kTextBytes]) {
  if (object == nullptr) return {buffer, 0};
  const auto state = Load<uint32_t>(object, layout.text_state);
  const auto length = Load<size_t>(object, layout.text_length);
  const uint32_t kind = Kind(state);
  if (!IsCompact(state) || (kind != 1 && kind != 2 && kind != 4)) return {buffer, 0};
  const char* base = static_cast<const char*>(object);
  if (IsAscii(state)) {
    return {base + layout.ascii_data, length < kTextBytes ? length : kTextBytes};
  }
  size_t bytes = 0;
  for (size_t i = 0; i < length && bytes + 4 <= kTextBytes; ++i) {
    bytes += Encode(CharacterAt(base + layout.compact_data, i, kind), buffer + bytes);
  }
  return {buffer, bytes};
}

}  // namespace batchlight::cpython
