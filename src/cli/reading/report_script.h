// Reports of the user's own, run as nsys runs them: NAME.py in a folder of --report-dir is started
// with the path of an SQLite export and the report's arguments, and prints CSV with a heading.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/result/row_source.h"
#include "base/status.h"
#include "cli/reading/temporary_folder.h"
#include "store/store.h"

namespace batchlight::cli {

class ReportScripts {
 public:
  // `folders` as given, then those of NSYS_STATS_REPORT_PATH (separated by ':').
  explicit ReportScripts(std::vector<std::string> folders);
  ReportScripts(const ReportScripts&) = delete;
  ReportScripts& operator=(const ReportScripts&) = delete;

  // Path of the first NAME.py.
  std::optional<std::string> Find(const std::string& name) const;
  std::vector<std::string> Names() const;

  // The script's rows. A store that was not read from an SQLite file is exported to a temporary
  // one. Errors: kInput with the script's last words, or the line that is not CSV.
  Result<RowSource> Run(const std::string& name, const std::vector<std::string>& args,
                        const Store& store);

 private:
  Result<std::string> DatabaseOf(const Store& store);

  std::vector<std::string> folders_;
  const Store* exported_ = nullptr;
  std::optional<TemporaryFolder> temporary_;  // of the export
};

}  // namespace batchlight::cli
