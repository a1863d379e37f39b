// The stages of each training process for the page: PageData.lives of web/src/data.ts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/overview/run_overview.h"

namespace batchlight {

nlohmann::json PageLives(const RunOverview& overview);

}  // namespace batchlight
