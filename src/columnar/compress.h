// Zstandard for pieces of a columnar file.
#pragma once

#include <string>
#include <string_view>

namespace batchlight {

// Any thread.
std::string Compressed(std::string_view bytes);

}  // namespace batchlight
