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

void AddRun(const Command& command, std::string* run) {
  command.Option("RUN,--run", run, kRunHelp).Required().TypeName("");
}

FlagHandle AddRuns(const Command& command, std::vector<std::string>* runs) {
  return command.Option("RUN,--run", runs, kRunHelp).TypeName("");
}

Status CheckOneRun(const std::string& verb, const std::vector<std::string>& runs,
                   const std::string& hint) {
  if (runs.size() == 1) return {};
  if (runs.empty()) return UsageError("no RUN given: batchlight " + verb + " [flags] RUN");
  const auto format = std::find_if(runs.begin(), runs.end(), IsFormatName);
  if (format != runs.end()) return UsageError("\"" + *format + "\" is no run: " + hint);
  return UsageError("one RUN only, there are " + runs[0] + " and " + runs[1]);
}

}  // namespace batchlight::cli
