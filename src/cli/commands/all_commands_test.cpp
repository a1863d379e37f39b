// The whole command line, as it is described and as it is parsed.
#include "cli/commands/all_commands.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/split.h"
#include "cli/flags/flags.h"
#include "cli/reading/known_values.h"
#include "cli/reference/complete.h"
#include "cli/reference/describe.h"
#include "cli/reference/help_text.h"
#include "cli/reference/man_page.h"
#include "cli/reference/markdown.h"
#include "cli/reference/wrapped_text.h"

namespace batchlight::cli {
namespace {

using Words = std::vector<std::string>;

void ForgetCallbacks(CLI::App* app) {
  app->callback({});
  for (CLI::App* below : app->get_subcommands([](CLI::App*) { return true; })) {
    ForgetCallbacks(below);
  }
}

struct Parser {
  Parser() {
    AddAllCommands(&app, outcome);
    ForgetCallbacks(&app);
  }
  CLI::App app{kProgramSentence, "batchlight"};
  Outcome outcome;
};

const CommandReference& All() {
  static Parser parser;
  static const CommandReference all = Describe(Command(&parser.app));
  return all;
}

// The program's own first, then each command with its own.
std::vector<const CommandReference*> EveryCommand(const CommandReference& from = All()) {
  std::vector<const CommandReference*> commands = {&from};
  for (const CommandReference& below : from.commands) {
    for (const CommandReference* one : EveryCommand(below)) commands.push_back(one);
  }
  return commands;
}

TEST(AllCommands, EachSaysWhatItDoesAndTakes) {
  EXPECT_GT(EveryCommand().size(), 25U);
  for (const CommandReference* command : EveryCommand()) {
    EXPECT_FALSE(command->sentence.empty()) << command->name;
    EXPECT_FALSE(command->sentence.ends_with('.')) << command->name;
    for (const WordReference& word : command->words) {
      EXPECT_FALSE(word.help.empty()) << command->name << " " << word.name;
    }
    for (const FlagReference& flag : command->flags) {
      EXPECT_GT(flag.help.size(), 4U) << command->name << " " << flag.name();
      EXPECT_FALSE(flag.group.empty()) << command->name << " " << flag.name();
      EXPECT_EQ(flag.values.find(' '), std::string::npos) << command->name << " " << flag.values;
    }
  }
}

TEST(AllCommands, EachHasAnExample) {
  for (const CommandReference* command : EveryCommand()) {
    const bool has_own = !command->commands.empty() && command != &All();
    EXPECT_TRUE(has_own || !command->examples.empty()) << command->name;
    for (const ExampleReference& example : command->examples) {
      EXPECT_TRUE((example.line + " ").starts_with(command->name + " ")) << example.line;
    }
  }
}

// The words of an example without what the shell does with the output.
Words WordsOf(const std::string& line) {
  Words words = SplitWords(line.substr(0, line.find_first_of("|>")));
  if (line.find("'") != std::string::npos) words = SplitWords(line);  // such as 'step>3%'
  words.erase(words.begin());
  return words;
}

TEST(AllCommands, ExamplesAreParsed) {
  for (const CommandReference* command : EveryCommand()) {
    for (const ExampleReference& example : command->examples) {
      Words words = WordsOf(example.line);
      const std::string verb = words[0];
      if (verb == "kernprof") continue;  // becomes another program, which parses its words
      if (verb == "profile" || verb == "launch" || verb == "start" || verb == "kernels") {
        const Verb which = verb == "profile"  ? Verb::kProfile
                           : verb == "launch" ? Verb::kLaunch
                           : verb == "start"  ? Verb::kStart
                                              : Verb::kKernels;
        const auto flags = ParsedFlags::Parse(which, {words.begin() + 1, words.end()});
        ASSERT_TRUE(flags.ok()) << example.line << ": " << flags.status().message();
        EXPECT_EQ(flags->WithoutEffect(), Words()) << example.line;
        EXPECT_EQ(flags->command.empty(), which == Verb::kStart) << example.line;
        continue;
      }
      Parser parser;
      std::reverse(words.begin(), words.end());
      EXPECT_NO_THROW(parser.app.parse(words)) << example.line;
      const bool program_follows = verb == "dlprof" || command->takes_program;
      EXPECT_TRUE(program_follows || parser.app.remaining(true).empty()) << example.line;
    }
  }
}

TEST(AllCommands, HelpFitsEightyColumns) {
  for (const CommandReference* command : EveryCommand()) {
    for (const std::string_view line : SplitAt(HelpText(*command), '\n')) {
      EXPECT_LE(line.size(), kHelpWidth) << command->name << ": " << line;
      EXPECT_FALSE(line.ends_with(' ')) << command->name << ": " << line;
    }
  }
}

TEST(AllCommands, HelpNamesEveryFlag) {
  for (const CommandReference* command : EveryCommand()) {
    const std::string help = HelpText(*command);
    for (const FlagReference& flag : command->flags) {
      EXPECT_NE(help.find(flag.name()), std::string::npos) << command->name << " " << flag.name();
    }
  }
}

TEST(AllCommands, EachHasAManualPage) {
  const std::vector<ManPage> pages = ManPages(All(), "1.2.3");
  ASSERT_EQ(pages.size(), 1 + All().commands.size());
  for (const ManPage& page : pages) {
    for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SEE ALSO"}) {
      EXPECT_NE(page.text.find(std::string(".SH ") + section), std::string::npos) << page.file;
    }
  }
}

TEST(AllCommands, DocumentationIsFresh) {
  const auto text = ReadWholeFile(BATCHLIGHT_SOURCE_DIR "/docs/cli.md");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_TRUE(text.value() == ReferenceMarkdown(All()))
      << "run: batchlight help --markdown > docs/cli.md";
}

Completion Completed(const Words& words) {
  return Complete(All(), words, [](std::string_view name) { return KnownWords(All(), name); });
}

Words Candidates(const Words& words) {
  Words found;
  for (const Candidate& candidate : Completed(words).candidates) found.push_back(candidate.word);
  return found;
}

bool Has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Complete, Commands) {
  EXPECT_EQ(Candidates({"tr"}), (Words{"tree", "trace"}));
  EXPECT_EQ(Candidates({"trace", ""}), (Words{"dump", "assemble", "seal"}));
  EXPECT_EQ(Candidates({"help", "trace", "a"}), Words{"assemble"});
  EXPECT_EQ(Candidates({"completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_FALSE(Has(Candidates({""}), "complete"));
}

TEST(Complete, Flags) {
  EXPECT_EQ(Candidates({"tree", "--de"}), Words{"--depth"});
  EXPECT_TRUE(Has(Candidates({"tree", "-"}), "--gpu"));
  EXPECT_TRUE(Has(Candidates({"profile", "-"}), "-o"));
  EXPECT_FALSE(Has(Candidates({"profile", "--"}), "--storage-metrics"));  // without effect
  EXPECT_EQ(Candidates({"stop", ""}), (Words{"--session", "--help"}));
  EXPECT_EQ(Candidates({"tree", "--", "--de"}), Words());
}

TEST(Complete, Values) {
  EXPECT_EQ(Candidates({"export", "-t", "chr"}), Words{"chrome"});
  EXPECT_EQ(Candidates({"export", "--type=sql"}), Words{"--type=sqlite"});
  EXPECT_EQ(Candidates({"profile", "--export=sqlite,chr"}), Words{"--export=sqlite,chrome"});
  EXPECT_EQ(Candidates({"profile", "--capture-range", "c"}), Words{"cudaProfilerApi"});
  EXPECT_EQ(Candidates({"profile", "-t", "nvtx,pyth"}), (Words{"nvtx,python", "nvtx,python-gil"}));
  EXPECT_EQ(Candidates({"stats", "-r", "cuda_gpu_kern_s"}), Words{"cuda_gpu_kern_sum"});
  EXPECT_TRUE(Has(Candidates({"analyze", "-r", ""}), "dataloader-wait"));
  EXPECT_EQ(Candidates({"diff", "-f", "h"}), Words{"html"});
  EXPECT_EQ(Candidates({"tree", "--depth", ""}), Words());
}

TEST(Complete, WordsThatTheShellKnows) {
  EXPECT_EQ(Completed({"tree", ""}).shell, ShellWords::kRuns);
  EXPECT_EQ(Completed({"tree", "a", ""}).shell, ShellWords::kRuns);
  EXPECT_EQ(Completed({"diff", "a", "b", ""}).shell, ShellWords::kNone);
  EXPECT_EQ(Completed({"diff", "a", ""}).shell, ShellWords::kRuns);
  EXPECT_EQ(Completed({"report", "-o", ""}).shell, ShellWords::kFolders);
  EXPECT_EQ(Completed({"tree", "--run=x"}).value_begin, 6U);
  const Completion table = Completed({"table", "ker"});
  EXPECT_EQ(table.shell, ShellWords::kRuns);
  EXPECT_TRUE(Has(Candidates({"table", "ker"}), "kernels"));
  EXPECT_TRUE(Has(Candidates({"table", "run.batchlight", ""}), "kernels"));
}

TEST(Complete, TheProgramsOwnWords) {
  for (const Words& words : {Words{"profile", "-o", "x", "py"}, Words{"profile", "-f", "x", "--bl"},
                             Words{"launch", "-w", "false", "--", "-x"}}) {
    EXPECT_EQ(Completed(words).shell, ShellWords::kProgram) << words[1];
    EXPECT_EQ(Candidates(words), Words());
  }
  EXPECT_EQ(Completed({"profile", "-o", "x", "py", "t"}).program, 3U);
  EXPECT_EQ(Completed({"launch", "-w", "false", "--", "py"}).program, 4U);
  EXPECT_EQ(Completed({"start", ""}).shell, ShellWords::kNone);
}

TEST(Complete, EveryListHasWords) {
#define VALUE(name, how)                                                          \
  if (std::string_view(#how) == "Known" && std::string_view(name) != "SESSION") { \
    EXPECT_FALSE(KnownWords(All(), name).empty()) << name;                        \
  }
#include "cli/reference/value_names.def"
#undef VALUE
}

TEST(Complete, TextForTheShells) {
  EXPECT_EQ(CompletionText(Completed({"tree", "--run=x"})), ":runs 6\n");
  EXPECT_EQ(CompletionText(Completed({"profile", "p"})), ":program 1\n");
  EXPECT_EQ(CompletionText(Completed({"tree", "--gp"})),
            ":\n--gpu\tGPU time instead of CPU time\n");
}

}  // namespace
}  // namespace batchlight::cli
