// `batchlight stats` as a function, for `profile --stats`.
#pragma once

#include <string>

#include "base/status.h"
#include "store/store.h"

namespace batchlight::cli {

// Prints the default reports on `store` to standard output, as `stats` without -r does.
Status PrintDefaultStats(const Store& store);

}  // namespace batchlight::cli
