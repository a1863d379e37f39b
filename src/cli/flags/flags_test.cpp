#include "cli/flags/flags.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {
namespace {

using Words = std::vector<std::string>;

ParsedFlags Parse(const Words& words, Verb verb = Verb::kProfile) {
  auto flags = ParsedFlags::Parse(verb, words);
  EXPECT_TRUE(flags.ok()) << flags.status().message();
  return flags.ok() ? std::move(flags).value() : ParsedFlags();
}

std::string ErrorOf(const Words& words, Verb verb = Verb::kProfile) {
  const auto flags = ParsedFlags::Parse(verb, words);
  EXPECT_FALSE(flags.ok());
  return flags.status().message();
}

TEST(FlagTable, NamesAreUniqueAndDefaultsFit) {
  std::set<std::pair<std::string_view, char>> names;  // with the verb that has it
  std::set<char> letters;
  for (const FlagSpec& spec : kFlags) {
    for (const char verb : spec.verbs) {
      EXPECT_TRUE(names.emplace(spec.name, verb).second) << spec.name << " of " << verb;
    }
    const bool new_letter = spec.short_name == 0 || letters.insert(spec.short_name).second;
    EXPECT_TRUE(new_letter) << spec.name;
    EXPECT_FALSE(spec.help.empty());
    EXPECT_FALSE(spec.verbs.empty());
    if (spec.default_value.empty()) continue;
    const auto verb = static_cast<Verb>(spec.verbs[0]);
    Parse({"--" + std::string(spec.name) + "=" + std::string(spec.default_value)}, verb);
  }
}

TEST(ParsedFlags, EqualsSpaceAndShortFormsAreTheSame) {
  for (const Words& words :
       {Words{"--output=x", "--delay=1.5"}, Words{"--output", "x", "-y", "1.5"},
        Words{"-o", "x", "--delay", "1.5"}}) {
    const ParsedFlags flags = Parse(words);
    EXPECT_EQ(flags.Text(Flag::kOutput), "x");
    EXPECT_EQ(flags.Seconds(Flag::kDelay), 1.5);
  }
}

TEST(ParsedFlags, TheProgramKeepsItsOwnFlags) {
  EXPECT_EQ(Parse({"-o", "x", "python", "-o", "y", "--", "--trace"}).command,
            (Words{"python", "-o", "y", "--", "--trace"}));
  EXPECT_EQ(Parse({"-f", "--", "-odd-name", "--"}).command, (Words{"-odd-name", "--"}));
  EXPECT_EQ(Parse({"-f", "python", "t.py"}).command, (Words{"python", "t.py"}));
}

TEST(ParsedFlags, TrueMayBeLeftOut) {
  EXPECT_TRUE(Parse({"-f", "python"}).Bool(Flag::kForceOverwrite));
  EXPECT_TRUE(Parse({"-f", "true", "python"}).Bool(Flag::kForceOverwrite));
  const ParsedFlags flags = Parse({"-f", "false", "-w=false", "python"});
  EXPECT_FALSE(flags.Bool(Flag::kForceOverwrite));
  EXPECT_FALSE(flags.Bool(Flag::kShowOutput));
  EXPECT_EQ(flags.command, Words{"python"});
  EXPECT_EQ(Parse({"--measure-overhead", "python"}).command, Words{"python"});
  EXPECT_EQ(Parse({"--measure-overhead=3", "python"}).Text(Flag::kMeasureOverhead), "3");
}

TEST(ParsedFlags, ErrorsNameTheNearestFlag) {
  EXPECT_NE(ErrorOf({"--ouput=x"}).find("--output"), std::string::npos);
  EXPECT_NE(ErrorOf({"--capture-rang", "nvtx"}).find("--capture-range"), std::string::npos);
  EXPECT_NE(ErrorOf({"-Q"}).find("-Q"), std::string::npos);
  EXPECT_NE(ErrorOf({"--delay=soon"}).find("SECONDS"), std::string::npos);
  EXPECT_NE(ErrorOf({"--delay"}).find("needs a value"), std::string::npos);
  EXPECT_NE(ErrorOf({"--duration=3"}, Verb::kLaunch).find("--duration"), std::string::npos);
}

TEST(ParsedFlags, ListsSplitAtCommas) {
  EXPECT_EQ(Parse({"--nvtx-domain-include", "a,b\\,c"}).List(Flag::kNvtxDomainInclude),
            (Words{"a", "b,c"}));
  EXPECT_EQ(Parse({"--export=sqlite", "--export=chrome,jsonlines"}).List(Flag::kExport),
            (Words{"sqlite", "chrome", "jsonlines"}));
}

TEST(ParsedFlags, WhatChangesNothingIsNamed) {
  EXPECT_EQ(Parse({"-s", "none", "--cpuctxsw=none", "--osrt-threshold=1000",
                   "--trace-fork-before-exec=true", "--discard-environment"})
                .WithoutEffect(),
            Words());
  EXPECT_EQ(Parse({"--gpuctxsw=true", "--mpi-impl=mpich", "--osrt-threshold=10",
                   "--osrt-backtrace-stack-size=9"})
                .WithoutEffect(),
            (Words{"--gpuctxsw=true", "--mpi-impl=mpich"}));
}

TEST(ParsedFlags, CommandFileGivesWayToTheCommandLine) {
  const std::string path =
      testing::TempDir() + "flags_test_command_file_" + std::to_string(getpid());
  ASSERT_TRUE(WriteWholeFile(path,
                             "# how we profile\n-o 'from file' --delay=2 \\\n -t nvtx\n"
                             "python train.py\n")
                  .ok());
  const ParsedFlags flags = Parse({"--delay=1", "--command-file", path});
  EXPECT_EQ(flags.Text(Flag::kOutput), "from file");
  EXPECT_EQ(flags.Seconds(Flag::kDelay), 1);
  EXPECT_EQ(flags.Text(Flag::kTrace), "nvtx");
  EXPECT_EQ(flags.command, (Words{"python", "train.py"}));
  EXPECT_EQ(Parse({"--command-file", path, "other"}).command, Words{"other"});
  ErrorOf({"--command-file", path + ".missing"});
}

TEST(FlagTable, DocumentationIsFresh) {
  const auto text = ReadWholeFile(BATCHLIGHT_SOURCE_DIR "/docs/cli-profile.md");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_TRUE(text.value() == FlagsMarkdown())
      << "run: batchlight profile --help-markdown > docs/cli-profile.md";
}

}  // namespace
}  // namespace batchlight::cli
