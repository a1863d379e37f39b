// batchlight doctor: what can be recorded on this machine, what is missing and how to get it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "capture/machine/machine_check.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

using capture::Check;
using capture::Finding;

const char* Word(Finding finding) {
  switch (finding) {
    case Finding::kGood:
      return "ok";
    case Finding::kMissing:
      return "missing";
    case Finding::kNote:
      return "note";
  }
  return "";
}

bool ColorWanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0');
}

void PrintTable(const std::vector<Check>& checks) {
  const bool color = ColorWanted();
  for (const Check& check : checks) {
    const char* paint = check.finding == Finding::kGood      ? "\033[32m"
                        : check.finding == Finding::kMissing ? "\033[31m"
                                                             : "\033[33m";
    std::printf("%s%-8s%s %-13s %s\n", color ? paint : "", Word(check.finding),
                color ? "\033[0m" : "", check.area.c_str(), check.what.c_str());
    if (!check.remedy.empty()) std::printf("%-23s-> %s\n", "", check.remedy.c_str());
  }
}

void PrintJson(const std::vector<Check>& checks) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    rows.push_back({{"area", check.area},
                    {"finding", Word(check.finding)},
                    {"what", check.what},
                    {"remedy", check.remedy}});
  }
  const std::string text =
      rows.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

}  // namespace

void RegisterDoctor(const Command& app, Outcome& outcome) {
  auto format = std::make_shared<std::string>("table");
  const Command command = app.Add("doctor", "What can be recorded on this machine");
  command.Option("-f,--format", format.get(), "table or json")
      .OneOf({"table", "json"})
      .ShowDefault();
  command.Runs([format, &outcome] {
    const std::vector<Check> checks = capture::CheckMachine();
    *format == "json" ? PrintJson(checks) : PrintTable(checks);
    outcome.status = Status();
  });
}

}  // namespace batchlight::cli
