// The flags of profile, launch, start and kernels: one table (profile_flags.def) behind parser,
// help and documentation. CLI11 is not used here, because it lacks three things that Nsight
// Systems' command line needs: to stop at the first word that is not a flag and leave the rest
// alone, "--" included; flags whose value may be left out; an error that names the nearest flag.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace batchlight::cli {

enum class Flag {
#define FLAG(Id, name, short_name, values, default_value, verbs, status, help) k##Id,
#include "cli/flags/profile_flags.def"
  kCount
};

enum class FlagStatus { kWorks, kLater, kNoEffect, kAlways };

struct FlagSpec {
  Flag id;
  std::string_view name;
  char short_name;  // 0 = none
  std::string_view values;
  std::string_view default_value;
  std::string_view verbs;
  FlagStatus status;
  std::string_view help;
  std::string_view group;

  bool IsBool() const { return values.starts_with("true|false"); }
  bool IsList() const { return values.ends_with(",..."); }
};

extern const std::array<FlagSpec, static_cast<size_t>(Flag::kCount)> kFlags;

enum class Verb : char { kProfile = 'P', kLaunch = 'L', kStart = 'S', kKernels = 'K' };

class ParsedFlags {
 public:
  // Error (kUsage): unknown flag, missing or invalid value. Words from the first that is not a
  // flag, or after "--", become the program and its arguments.
  static Result<ParsedFlags> Parse(Verb verb, const std::vector<std::string>& words);

  bool Given(Flag flag) const { return !values_[Index(flag)].empty(); }
  // The last value given, or the default.
  std::string Text(Flag flag) const;
  bool Bool(Flag flag) const { return Text(flag) == "true"; }
  double Seconds(Flag flag) const;
  // All values given, split at commas ("\," is a comma); the default if none was given.
  std::vector<std::string> List(Flag flag) const;

  // "--sample=cpu": flags that were given, in the order of the table, and change nothing here.
  std::vector<std::string> WithoutEffect() const;

  bool help = false;
  std::vector<std::string> command;

 private:
  static size_t Index(Flag flag) { return static_cast<size_t>(flag); }
  Status ParseWords(Verb verb, const std::vector<std::string>& words, bool from_file);
  Status Take(const FlagSpec& spec, const std::string& value, const std::string& spelled);
  Status ReadCommandFile(Verb verb, const std::string& path);

  std::array<std::vector<std::string>, static_cast<size_t>(Flag::kCount)> values_;
};

std::vector<std::string> SplitAtCommas(std::string_view text);
// An error (kUsage) where a flag is also the name of a file in the present folder: what the shell
// makes of `*` in a folder of others, where a file may be called "--output=@PROGRAM".
Status CheckIsNoFile(const std::string& flag);
// Words as a shell would see them: quotes and backslashes, # comments.
std::vector<std::string> SplitWords(std::string_view text);

// Whether an alternative of `values` is a word to be typed as it is.
bool IsLiteral(std::string_view alternative);

// docs/cli-profile.md.
std::string FlagsMarkdown();

}  // namespace batchlight::cli
