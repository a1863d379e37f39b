// Text on its way into JSON and other files that must be UTF-8. Names come from the profiled
// program and may hold any bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace batchlight {

// Length of the UTF-8 sequence at the start of `text` (not empty), 0 if there is none.
size_t Utf8Length(std::string_view text);
bool IsValidUtf8(std::string_view text);
// `text` with U+FFFD for every byte that is part of no character.
std::string ValidUtf8(std::string_view text);

// `text` as the inside of a JSON string; bytes that are not UTF-8 become U+FFFD.
void AppendJsonEscaped(std::string_view text, std::string& json);

}  // namespace batchlight
