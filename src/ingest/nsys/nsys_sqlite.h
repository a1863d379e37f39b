// Imports an SQLite database that `nsys export -t sqlite` wrote.
#pragma once

#include <string>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// Errors (kInput): not readable, not an nsys export; table and row are named.
Result<Store> ImportNsysSqlite(const std::string& path);

}  // namespace batchlight
