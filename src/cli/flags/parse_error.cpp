#include "cli/flags/parse_error.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/printable_text.h"
#include "base/status.h"

namespace batchlight::cli {

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

namespace {

// The command that was asked for, as deep as it was named: "probe storage".
struct Asked {
  const CLI::App* command;
  std::string words;

  explicit Asked(const CLI::App& app) : command(&app) {
    while (!command->get_subcommands().empty()) {
      command = command->get_subcommands().front();
      words += " " + command->get_name();
    }
  }
};

}  // namespace

int ReportParseError(const CLI::App& app, const CLI::ParseError& error) {
  constexpr auto kUsage = static_cast<int>(ErrorKind::kUsage);
  const std::vector<std::string> extras = app.remaining(true);
  const Asked asked(app);
  const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (error.get_exit_code() == 0) return app.exit(error);  // help, version
  if (!unexpected || extras.empty() || asked.words.empty() || extras[0][0] != '-') {
    std::fprintf(stderr, "batchlight: %s (batchlight%s --help shows what it takes)\n",
                 PrintableText(error.what()).c_str(), asked.words.c_str());
    return kUsage;
  }
  const std::string flag = extras[0].substr(0, extras[0].find('='));
  const std::vector<std::string> names = FlagsOf(*asked.command);
  std::fprintf(stderr, "batchlight: unknown flag %s%s (batchlight%s --help shows all)\n",
               PrintableText(flag).c_str(),
               DidYouMean(NearestFew(flag, {names.begin(), names.end()}, 2)).c_str(),
               asked.words.c_str());
  return kUsage;
}

}  // namespace batchlight::cli
