// Events of a rank by name, for the recipes that sum them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/stats/stats_report.h"

namespace batchlight::recipes {

// Durations, or bytes, by name.
using Groups = std::map<std::string, std::vector<int64_t>>;
using GroupEvents = Groups (*)(const stats::Query& query);

Groups ApiCalls(const stats::Query& query);
Groups Kernels(const stats::Query& query);
Groups MemoryTimes(const stats::Query& query);
Groups MemorySizes(const stats::Query& query);
Groups MpiCalls(const stats::Query& query);
Groups NcclCalls(const stats::Query& query);        // ranges of the domain NCCL
Groups NcclProjections(const stats::Query& query);  // from their first work on a GPU to the last
Groups NetworkValues(const stats::Query& query);    // by metric and device
Groups OsCalls(const stats::Query& query);
Groups Ranges(const stats::Query& query);
Groups RangeProjections(const stats::Query& query);

}  // namespace batchlight::recipes
