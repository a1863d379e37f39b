// BATCHLIGHT_* tables of an export of ours: the tables of the store that nsys has no table for,
// unchanged. Columns are named as in schema.def; strings are ids of StringIds, threads globalTid,
// processes globalPid, rows of other tables `row`. The importer reads them back.
#pragma once

#include <string>
#include <string_view>

namespace batchlight::nsys {

inline constexpr std::string_view kOwnTablePrefix = "BATCHLIGHT_";

// True if no table of nsys holds all of this table of the store.
bool IsOwnTable(std::string_view name);

std::string OwnTableName(std::string_view name);

}  // namespace batchlight::nsys
