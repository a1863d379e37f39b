// --per-rank: a folder with one file per rank of a distributed job, rank_0.trace.json, ... Each
// holds what the processes of that rank did; processes without a rank (a launcher) are in none.
#pragma once

#include <span>

#include "analysis/stats/rank_parts.h"
#include "export/exporter.h"

namespace batchlight {

// `options.output` is the folder; it appears complete with all of its files. Files of an earlier
// export that this one replaces are removed. Returns the number of events. Errors: kOutput; kUsage
// if no process has a rank or the format is not one file.
Result<uint64_t> ExportPerRank(const Store& store, const Exporter& exporter,
                               const ExportOptions& options);

// The same of several inputs, one for each rank or some: `ranks` says which is which.
Result<uint64_t> ExportRanks(std::span<const Store* const> stores, const stats::RankParts& ranks,
                             const Exporter& exporter, const ExportOptions& options);

}  // namespace batchlight
