// What the command line takes, as plain data: read off the parser and the flag table once
// (describe.h). --help, the manual, docs/cli.md and completion are made of it, so that none of them
// can say another thing.
#pragma once

#include <string>
#include <vector>

namespace batchlight::cli {

struct FlagReference {
  std::vector<std::string> names;  // "-o", "--output"
  std::string values;              // grammar of profile_flags.def; "" takes none
  bool value_is_optional = false;
  std::string default_value;
  std::string help;
  std::string group;
  bool without_effect = false;  // accepted, does nothing here

  const std::string& name() const { return names.back(); }
};

// RUN, NAME, ...: a word that is no flag.
struct WordReference {
  std::string name;
  std::string values;  // "bash|zsh|fish"; its name where it may be many
  std::string help;
  bool required = false;
  bool repeats = false;
};

struct ExampleReference {
  std::string line;
  std::string what;
};

struct CommandReference {
  std::string name;      // "batchlight", "batchlight trace dump"
  std::string sentence;  // what it does
  std::string details;
  std::string group;  // the heading it stands under
  std::vector<WordReference> words;
  std::vector<FlagReference> flags;
  std::vector<ExampleReference> examples;
  std::vector<CommandReference> commands;
  bool takes_program = false;  // the first word that is no flag is a program; its own words follow

  // "dump" of "batchlight trace dump".
  std::string verb() const { return name.substr(name.rfind(' ') + 1); }
  // nullptr: there is none.
  const CommandReference* Find(const std::string& verb_wanted) const;
  const FlagReference* FindFlag(const std::string& flag) const;
  // Titles of the flags' groups, in order; those without effect have none.
  std::vector<std::string> Groups() const;
};

// "batchlight trace dump [flags] RUN".
std::string UsageLine(const CommandReference& command);
// "--output FILE", "--force[=true|false]": the flag with its value; alternatives that are many are
// left to ValueNote.
std::string Spelling(const FlagReference& flag);
// The sentences after the help: alternatives and default.
std::string ValueNote(const FlagReference& flag);

}  // namespace batchlight::cli
