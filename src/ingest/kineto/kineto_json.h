// Imports a torch.profiler (Kineto) trace, JSON as `export_chrome_trace` writes it.
#pragma once

#include <string>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// Plain or gzip. Errors (kInput): not readable, not a Kineto trace.
Result<Store> ImportKinetoJson(const std::string& path);

}  // namespace batchlight
