// The subcommands of the program. Each lives in <verb>_command.cpp, declares its flags on a Command
// and sets what runs it; main.cpp lists them all. CLI11 parses; it stays behind this header, as its
// own takes a compiler as long as five of our files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace batchlight::cli {

// What the chosen subcommand reports back to main(). `exit_code` is used when status is fine:
// `profile` passes the program's own exit code on.
struct Outcome {
  Status status;
  int exit_code = 0;
  // For a subcommand that takes all words (Command::TakeAllWords): those after its name, untouched.
  std::vector<std::string> words;
};

// A flag or word that was just declared; each call says more of it.
class FlagHandle {
 public:
  explicit FlagHandle(CLI::Option* option) : option_(option) {}

  FlagHandle& Required();
  // The value, in the grammar of profile_flags.def: "FILE", "text|json", "NAME,...". Without it
  // TEXT, N, NUMBER or true|false. What a word in capitals stands for says value_names.def.
  FlagHandle& TypeName(const std::string& name);
  FlagHandle& Help(const std::string& text);
  FlagHandle& NotNegative();
  FlagHandle& OneOf(std::initializer_list<const char*> words);
  // The value that the variable has now is the default that --help shows.
  FlagHandle& ShowDefault();
  // What --help shows as the default, where the value says it otherwise.
  FlagHandle& DefaultText(const std::string& text);
  // One that may stand without a value.
  FlagHandle& ValueIsOptional();
  // One value each time it is given, so that the word after it can be the input.
  FlagHandle& OneValueEach();
  // The heading that --help and the manual show it under ("Flags").
  FlagHandle& Group(const std::string& title);
  // The command takes either this flag or the other, by its name.
  FlagHandle& Excludes(const std::string& other);

 private:
  CLI::Option* option_;
};

// A subcommand that is being declared: a handle, copied freely; the parser of main owns what is
// behind it. All values outlive the parse.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}

  Command Add(const std::string& name, const std::string& what) const;

  // `names`: "-o,--output", or "RUN" for a word in its place, or both.
  FlagHandle Option(const std::string& names, std::string* value, const std::string& help) const;
  FlagHandle Option(const std::string& names, std::vector<std::string>* values,
                    const std::string& help) const;
  // Keeps apart that it was not given.
  FlagHandle Option(const std::string& names, std::optional<std::string>* value,
                    const std::string& help) const;
  FlagHandle Option(const std::string& names, bool* value, const std::string& help) const;
  FlagHandle Option(const std::string& names, size_t* value, const std::string& help) const;
  FlagHandle Option(const std::string& names, int64_t* value, const std::string& help) const;
  FlagHandle Option(const std::string& names, int* value, const std::string& help) const;
  FlagHandle Option(const std::string& names, double* value, const std::string& help) const;
  // A flag without a value.
  FlagHandle Switch(const std::string& names, bool* value, const std::string& help) const;

  // What a reader of the manual wants to know beyond the sentence; paragraphs part at empty lines.
  void Details(const std::string& text) const;
  // Its words are not parsed here, but left in Outcome::words.
  void TakeAllWords() const;
  void NeedsSubcommand() const;
  void Runs(std::function<void()> function) const;

  // Whether the flag was given in the command line that was parsed.
  bool Given(const std::string& flag) const;
  const CLI::App& parser() const { return *app_; }

 private:
  CLI::App* app_;
};

// Adds the subcommand to `app`. `outcome` outlives the parse.
using RegisterFunction = void (*)(const Command& app, Outcome& outcome);

}  // namespace batchlight::cli
