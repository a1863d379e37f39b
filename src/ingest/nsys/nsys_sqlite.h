// Imports an SQLite database that `nsys export -t sqlite` wrote.
#pragma once

#include <string>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// `doubled_calls`: with CUDA backtraces nsys holds calls twice; keep both, as its reports do.
// Errors (kInput): not readable, not an nsys export; table and row are named.
Result<Store> ImportNsysSqlite(const std::string& path, bool doubled_calls = false);

}  // namespace batchlight
