// The folder that `batchlight report` writes: the page, one CSV per table, the picture, the
// snippet.
#pragma once

#include <string>
#include <vector>

#include "analysis/overview/run_overview.h"
#include "analysis/result/result_table.h"
#include "base/status.h"
#include "report/files/source_page.h"

namespace batchlight {

struct ReportOptions {
  std::string folder;
  bool overwrite = false;    // an existing folder may be used: only files of ours are replaced
  bool spreadsheet = false;  // CSVs: no text that could be a formula
  bool no_timeline = false;  // the page without the events themselves: smaller
  // That are not of the store; those without rows are left out.
  std::vector<ResultTable> more_tables;
  std::vector<SourceFile> sources;  // for source.html; none: it is not written
  std::string version;              // of the program, for the page's foot
};

// Returns the paths of the files, the page first. A new folder appears whole or not at all; in an
// existing one every file is replaced at once. Errors: kOutput.
Result<std::vector<std::string>> WriteReportFolder(const RunOverview& overview,
                                                   const ReportOptions& options);

}  // namespace batchlight
