// `batchlight ranks --tables`: a folder with a file for each table of a job.
#pragma once

#include <string>

#include "analysis/partial/job_result.h"
#include "base/status.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {

struct RankTablesOutput {
  std::string folder;
  TableFormat format;
  bool force_overwrite = false;  // files of an earlier call are replaced
};

// Before anything is read. Errors: kUsage for formats that are for people, kOutput for a folder
// that is there.
Result<RankTablesOutput> RankTablesTo(const std::string& folder, const std::string& format,
                                      bool force_overwrite);

// The folder appears as a whole. Errors: kOutput.
Status WriteRankTables(const JobResult& job, const RankTablesOutput& output);

}  // namespace batchlight::cli
