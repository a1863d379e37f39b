// Reports of the C library's calls that nsys does not have.
#pragma once

#include "analysis/stats/stats_report.h"

namespace batchlight::stats {

Result<RowSource> OsrtTrace(const Query& query);

}  // namespace batchlight::stats
