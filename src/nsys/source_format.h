// Store::source_format of what was read from nsys's files.
#pragma once

#include <string_view>

namespace batchlight::nsys {

inline constexpr std::string_view kNsysFormat = "nsys-sqlite";
inline constexpr std::string_view kOwnFormat = "batchlight-sqlite";  // has tables of ours

// A property with a value if the file was exported with --lazy=false: it has the tables without
// rows too, about which nsys's reports say something else than about tables that do not exist.
inline constexpr std::string_view kHasAllTables = "nsys.has_all_tables";

}  // namespace batchlight::nsys
