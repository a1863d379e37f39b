// Strings of any bytes as printable text in quotes, and back.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Appends "..." with \n \t \r \" \\ and \xNN for bytes that are not printable ASCII or part of
// well-formed UTF-8.
void AppendQuoted(std::string_view bytes, std::string& out);

// Reads a quoted string from the front of `rest` and removes it there. False if there is none.
bool TakeQuoted(std::string_view& rest, std::string& bytes);

}  // namespace batchlight
