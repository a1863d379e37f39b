// A table of the analyses as the page gets it: columns as in the report page, rows one by one.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/result/result_table.h"

namespace batchlight::serve {

nlohmann::json TableJson(const ResultTable& table);

}  // namespace batchlight::serve
