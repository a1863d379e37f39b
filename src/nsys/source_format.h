// Store::source_format of what was read from nsys's files.
#pragma once

#include <string_view>

namespace batchlight::nsys {

inline constexpr std::string_view kNsysFormat = "nsys-sqlite";
inline constexpr std::string_view kOwnFormat = "batchlight-sqlite";  // has tables of ours

}  // namespace batchlight::nsys
