// The terminal that a stream may be.
#pragma once

#include <cstdio>
#include <string_view>

namespace batchlight {

// Characters in a line of it; 0: `file` is no terminal, or it does not say.
int TerminalColumns(std::FILE* file);

// Writes after what is buffered, also where somebody made the stream non-blocking. A pipe or socket
// that nobody empties is waited for that long, a terminal or file without an end. Whether all of it
// is written; if not, errno says why.
bool WritePatiently(std::FILE* file, std::string_view text, int patience_ms);

}  // namespace batchlight
