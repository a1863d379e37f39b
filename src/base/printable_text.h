// Text for a terminal. Names come from the profiled program and from files, and may hold any bytes:
// escape sequences that rename a window or type commands, marks that turn the direction of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace batchlight {

// Bytes at the start of `text` (valid UTF-8, not empty) that act on a terminal instead of being
// shown: a control character, or a mark that changes the direction of text. 0: none.
size_t ControlLength(std::string_view text);

// `text` without such characters and without bytes that are not UTF-8, each of which becomes
// U+FFFD. Line ends and tabs stay.
std::string PrintableText(std::string_view text);

// `text` so that a spreadsheet does not take it for a formula: what begins with = + - @, a tab or a
// line end gets an apostrophe before it, which spreadsheets hide.
std::string SpreadsheetText(std::string_view text);

// `path` as one word of a shell command: as it is where that is safe, else quoted.
std::string ShellPath(std::string_view path);

}  // namespace batchlight
