// Text from a recording for people: names come from the profiled program and may hold any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace batchlight {

// Valid UTF-8 without control characters: each byte that is not part of a character becomes U+FFFD,
// each control character (line ends and tabs too) a space.
std::string CleanText(std::string_view bytes);

// Code points of clean text.
size_t CharacterCount(std::string_view clean);

// Clean text with at most `most` characters: an ellipsis replaces the middle, both ends stay.
std::string ElideMiddle(std::string_view clean, size_t most);
// The same without its end.
std::string CutEnd(std::string_view clean, size_t most);
// Byte offset of character number `index`.
size_t OffsetOf(std::string_view clean, size_t index);

}  // namespace batchlight
