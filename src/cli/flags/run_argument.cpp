#include "cli/flags/run_argument.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"

namespace batchlight::cli {
namespace {

constexpr std::string_view kFormatNames[] = {"column", "table",  "csv",      "tsv",  "json",
                                             "hdoc",   "htable", "markdown", "html", "text"};

bool IsFormatName(const std::string& word) {
  return std::find(std::begin(kFormatNames), std::end(kFormatNames), word) !=
             std::end(kFormatNames) &&
         !FileExists(word);
}

}  // namespace

FlagHandle AddRuns(const Command& command, std::vector<std::string>* runs) {
  return command.Option("RUN,--run", runs, std::string(kRunHelp) + kRunsHelp).TypeName("");
}

Status CheckRuns(const std::string& verb, const std::vector<std::string>& runs,
                 const std::string& hint) {
  if (runs.empty()) return UsageError("no RUN given: batchlight " + verb + " [flags] RUN...");
  const auto format = std::find_if(runs.begin(), runs.end(), IsFormatName);
  if (format == runs.end() || runs.size() == 1) return {};
  return UsageError("\"" + *format + "\" is no run" + (hint.empty() ? "" : ": " + hint));
}

}  // namespace batchlight::cli
