#include "cli/reference/describe.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

struct Example {
  std::string_view command;
  const char* line;
  const char* what;
};
constexpr Example kExamples[] = {
#define EXAMPLE(command, line, what) {command, line, what},
#include "cli/reference/examples.def"
#undef EXAMPLE
};

// The commands whose flags are those of profile_flags.def.
std::optional<Verb> VerbOf(const std::string& name) {
  if (name == "batchlight profile") return Verb::kProfile;
  if (name == "batchlight launch") return Verb::kLaunch;
  if (name == "batchlight start") return Verb::kStart;
  if (name == "batchlight kernels") return Verb::kKernels;
  return std::nullopt;
}

void AddTable(Verb verb, std::vector<FlagReference>* flags) {
  for (const FlagSpec& spec : kFlags) {
    if (spec.verbs.find(static_cast<char>(verb)) == std::string_view::npos) continue;
    FlagReference flag;
    if (spec.short_name != 0) flag.names.push_back({'-', spec.short_name});
    flag.names.push_back("--" + std::string(spec.name));
    flag.values = spec.values;
    flag.value_is_optional = spec.IsBool();
    flag.default_value = spec.default_value;
    flag.help = spec.help;
    flag.group = spec.group;
    flag.without_effect = spec.status == FlagStatus::kLater || spec.status == FlagStatus::kNoEffect;
    flags->push_back(std::move(flag));
  }
}

FlagReference FlagOf(const CLI::Option& option) {
  FlagReference flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) flag.values = option.get_type_name();
  if (option.get_positional()) flag.values = option.get_name(true);
  flag.value_is_optional = takes_value && option.get_expected_min() == 0;
  if (takes_value) flag.default_value = option.get_default_str();
  flag.help = option.get_positional() ? option.get_name(true) + " by name, wherever it stands"
                                      : option.get_description();
  flag.group = option.get_group() == "Options" ? "Flags" : option.get_group();
  return flag;
}

void AddOptions(const CLI::App& app, CommandReference* command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option == app.get_help_ptr()) continue;
    if (option->get_positional()) {
      const std::string name = option->get_name(true);
      const std::string type = option->get_type_name();
      command->words.push_back({name, type.find('|') == std::string::npos ? name : type,
                                option->get_description(), option->get_required(),
                                option->get_items_expected_max() > 1});
    }
    if (!option->get_lnames().empty() || !option->get_snames().empty()) {
      command->flags.push_back(FlagOf(*option));
    }
  }
}

CommandReference DescribeBelow(const CLI::App& app, const std::string& above) {
  CommandReference command;
  command.name = above.empty() ? app.get_name() : above + " " + app.get_name();
  command.sentence = app.get_description();
  command.details = app.get_footer();
  command.group = app.get_group();
  const std::optional<Verb> verb = VerbOf(command.name);
  command.takes_program = app.get_prefix_command() && verb != Verb::kStart;
  AddOptions(app, &command);
  if (verb.has_value()) AddTable(*verb, &command.flags);
  command.flags.push_back(FlagOf(*app.get_help_ptr()));
  for (const Example& example : kExamples) {
    if (example.command == command.name.substr(std::min<size_t>(command.name.size(), 11))) {
      command.examples.push_back({example.line, example.what});
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty())
      command.commands.push_back(DescribeBelow(*below, command.name));
  }
  return command;
}

// "batchlight trace": the command that stands above this one.
std::string Above(const CLI::App& app) {
  std::string above;
  for (const CLI::App* parent = app.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    above = parent->get_name() + (above.empty() ? "" : " " + above);
  }
  return above;
}

}  // namespace

CommandReference Describe(const Command& command) {
  return DescribeBelow(command.parser(), Above(command.parser()));
}

}  // namespace batchlight::cli
