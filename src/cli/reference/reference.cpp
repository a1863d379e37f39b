#include "cli/reference/reference.h"

#include <algorithm>

#include "base/split.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

constexpr size_t kMostValueLetters = 34;

bool IsList(const FlagReference& flag) { return flag.values.ends_with(",..."); }

// "text|json" with nothing that stands for another text, too long to show beside the flag.
bool IsLongChoice(const FlagReference& flag) {
  return flag.values.size() > kMostValueLetters && flag.values.find('|') != std::string::npos;
}

}  // namespace

const CommandReference* CommandReference::Find(const std::string& verb_wanted) const {
  for (const CommandReference& command : commands) {
    if (command.verb() == verb_wanted) return &command;
  }
  return nullptr;
}

const FlagReference* CommandReference::FindFlag(const std::string& flag) const {
  for (const FlagReference& known : flags) {
    if (std::find(known.names.begin(), known.names.end(), flag) != known.names.end()) {
      return &known;
    }
  }
  return nullptr;
}

std::vector<std::string> CommandReference::Groups() const {
  std::vector<std::string> groups;
  for (const FlagReference& flag : flags) {
    if (flag.without_effect) continue;
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) {
      groups.push_back(flag.group);
    }
  }
  return groups;
}

std::string UsageLine(const CommandReference& command) {
  std::string line = command.name;
  if (!command.commands.empty()) return line + " COMMAND ...";
  if (!command.flags.empty()) line += " [flags]";
  for (const WordReference& word : command.words) {
    const std::string name = word.name + (word.repeats ? "..." : "");
    line += word.required ? " " + name : " [" + name + "]";
  }
  return command.takes_program ? line + " [--] PROGRAM [ARGUMENT...]" : line;
}

std::string Spelling(const FlagReference& flag) {
  std::string text;
  for (const std::string& name : flag.names) text += (text.empty() ? "" : ", ") + name;
  if (flag.values.empty()) return text;
  std::string values = IsLongChoice(flag) ? (IsList(flag) ? "WORD,..." : "WORD") : flag.values;
  return text + (flag.value_is_optional ? "[=" + values + "]" : " " + values);
}

std::string ValueNote(const FlagReference& flag) {
  std::string note;
  if (IsLongChoice(flag)) {
    std::string_view values = flag.values;
    if (IsList(flag)) values.remove_suffix(4);
    for (const std::string_view value : SplitAt(values, '|')) {
      note += (note.empty() ? "One of " : ", ") + std::string(value);
    }
    note += ".";
  }
  if (flag.default_value.empty()) return note;
  return note + (note.empty() ? "" : " ") + "Default: " + flag.default_value + ".";
}

}  // namespace batchlight::cli
