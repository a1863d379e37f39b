// The terminal that a stream may be.
#pragma once

#include <cstdio>

namespace batchlight {

// Characters in a line of it; 0: `file` is no terminal, or it does not say.
int TerminalColumns(std::FILE* file);

}  // namespace batchlight
