#include "cli/reference/help_text.h"

#include <algorithm>

#include "cli/reference/wrapped_text.h"

namespace batchlight::cli {
namespace {

constexpr size_t kColumn = 26;

// "  --rows N              At most so many rows": below the name where it is long.
std::string Row(const std::string& name, const std::string& help) {
  std::string row = "  " + Wrapped(name, 6, 2);
  if (row.size() + 2 > kColumn) {
    row += "\n" + std::string(kColumn, ' ');
  } else {
    row.resize(kColumn, ' ');
  }
  return row + Wrapped(help, kColumn, kColumn) + "\n";
}

std::string FlagRows(const CommandReference& command, const std::string& group) {
  std::string text = "\n" + group + ":\n";
  for (const FlagReference& flag : command.flags) {
    if (flag.group != group || flag.without_effect) continue;
    const std::string note = ValueNote(flag);
    text += Row(Spelling(flag), flag.help + (note.empty() || flag.help.ends_with('.') ? "" : ".") +
                                    (note.empty() ? "" : " " + note));
  }
  return text;
}

// The flags of other tools that are accepted and do nothing, as one list of names.
std::string SilentFlags(const CommandReference& command) {
  std::string names;
  for (const FlagReference& flag : command.flags) {
    if (flag.without_effect) names += (names.empty() ? "" : ", ") + flag.name();
  }
  if (names.empty()) return "";
  return "\nAccepted, without effect:\n  " + Wrapped(names, 2, 2) + "\n";
}

std::string CommandRows(const CommandReference& command) {
  std::string text;
  std::string group;
  for (const CommandReference& below : command.commands) {
    if (below.group != group) text += "\n" + below.group + ":\n";
    group = below.group;
    text += Row(below.verb(), below.sentence);
  }
  return text;
}

std::string ExamplesText(const CommandReference& command) {
  if (command.examples.empty()) return "";
  std::string text = "\nExamples:\n";
  for (const ExampleReference& example : command.examples) {
    text += "  " + example.line + "\n      " + Wrapped(example.what, 6, 6) + "\n";
  }
  return text;
}

}  // namespace

std::string HelpText(const CommandReference& command) {
  std::string text = Wrapped(command.sentence, 0, 0) + "\n\n";
  text += Wrapped("Usage: " + UsageLine(command), 7, 0) + "\n";
  if (!command.details.empty()) text += "\n" + Wrapped(command.details, 0, 0) + "\n";
  if (!command.words.empty()) text += "\n";
  for (const WordReference& word : command.words) text += Row(word.name, word.help);
  text += CommandRows(command);
  for (const std::string& group : command.Groups()) text += FlagRows(command, group);
  text += SilentFlags(command) + ExamplesText(command);
  if (!command.commands.empty()) {
    text += "\n" +
            Wrapped("`" +
                        (command.name == "batchlight" ? "batchlight help COMMAND"
                                                      : command.name + " COMMAND --help") +
                        "` tells what a command takes.",
                    0, 0) +
            "\n";
  }
  return text;
}

}  // namespace batchlight::cli
