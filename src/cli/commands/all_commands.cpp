#include "cli/commands/all_commands.h"

#include <CLI/CLI.hpp>

namespace batchlight::cli {
#define COMMAND(group, function) void function(const Command& app, Outcome& outcome);
#include "cli/commands/commands.def"
#undef COMMAND

void AddAllCommands(CLI::App* parser, Outcome& outcome) {
  struct Row {
    const char* group;
    RegisterFunction add;
  };
  constexpr Row kCommands[] = {
#define COMMAND(group, function) {group, function},
#include "cli/commands/commands.def"
#undef COMMAND
  };
  parser->set_version_flag("-V,--version", "batchlight " BATCHLIGHT_VERSION, "Print the version");
  parser->set_help_flag("-h,--help", "Print this help");
  parser->require_subcommand(1);
  const Command app(parser);
  for (const Row& row : kCommands) {
    row.add(app, outcome);
    parser->get_subcommands([](const CLI::App*) { return true; }).back()->group(row.group);
  }
}

}  // namespace batchlight::cli
