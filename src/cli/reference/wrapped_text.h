// Text broken into lines for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace batchlight::cli {

inline constexpr size_t kHelpWidth = 80;

// `text` in lines of at most kHelpWidth, each after `indent` spaces but the first, which begins in
// `column`. Line breaks of the text are kept. Ends without a line break.
std::string Wrapped(std::string_view text, size_t indent, size_t column);

}  // namespace batchlight::cli
