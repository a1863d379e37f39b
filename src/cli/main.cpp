// batchlight: picks the subcommand, runs it, turns its Status into a line on stderr and an exit
// code. No logic beyond that.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/child.h"
#include "base/mapping_guard.h"
#include "base/memory_budget.h"
#include "base/nearest.h"
#include "base/process_memory.h"
#include "cli/commands/all_commands.h"
#include "cli/flags/command.h"
#include "cli/flags/flags.h"
#include "cli/flags/parse_error.h"
#include "cli/reading/print_help.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {
namespace {

// The first of the words from `begin` on that is no flag of `command` nor the value of one; "--"
// ends the flags.
int ProgramBegin(const CLI::App& command, int begin, int argc, char** argv) {
  int at = begin;
  while (at < argc && argv[at][0] == '-' && argv[at][1] != 0) {
    const std::string flag = argv[at++];
    if (flag == "--") return at;
    const CLI::Option* option = command.get_option_no_throw(flag);
    if (option != nullptr && option->get_items_expected_min() > 0) ++at;
  }
  return std::min(at, argc);
}

// CLI11 hands "--" and what follows back to the parent app even in prefix mode, so the words of
// such a subcommand (which mostly belong to another program) are removed before CLI11 sees them.
// One below another command has flags of its own before the program's words; CLI11 checks these.
void TakeWordsOfPrefixCommand(CLI::App& app, int& argc, char** argv, Outcome& outcome) {
  CLI::App* above = &app;
  for (int at = 1; at < argc && above != nullptr; ++at) {
    CLI::App* found = nullptr;
    for (CLI::App* command : above->get_subcommands([](CLI::App*) { return true; })) {
      if (command->check_name(argv[at])) found = command;
    }
    if (found != nullptr && found->get_prefix_command()) {
      const int begin = at == 1 ? 2 : ProgramBegin(*found, at + 1, argc, argv);
      outcome.words.assign(argv + begin, argv + argc);
      argc = begin > at + 1 && std::string_view(argv[begin - 1]) == "--" ? begin - 1 : begin;
      const bool asks_for_help = std::any_of(argv + at, argv + argc, [](std::string_view word) {
        return word == "-h" || word == "--help";
      });
      // Prefix mode takes an unknown flag for a program's.
      if (at > 1 && !asks_for_help) found->prefix_command(false);
      return;
    }
    above = found;
  }
}

// CLI11 would only say that a subcommand is required.
Status CheckCommandName(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) {
    return UsageError(
        "no command given: `batchlight profile python3 train.py` records a program, "
        "`batchlight help` lists all commands");
  }
  if (argv[1][0] == '-') return {};
  std::vector<std::string_view> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->check_name(argv[1])) return {};
    if (!command->get_group().empty()) known.push_back(command->get_name());
  }
  const std::string word = argv[1];
  const std::string nearest = Nearest(word, known);
  return UsageError("unknown command " + word +
                    (nearest.empty() ? "; `batchlight help` lists them, `batchlight profile " +
                                           word + "` records a program"
                                     : "; did you mean " + nearest + "?"));
}

// Of the words that CLI11 parses; ParsedFlags and kernprof look at their own. "--" ends the flags.
Status CheckNoFlagIsAFile(int argc, char** argv) {
  for (int at = 1; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    const std::string word = argv[at];
    if (word.size() > 1 && word[0] == '-') RETURN_IF_ERROR(CheckIsNoFile(word));
  }
  return {};
}

// The command whose words were parsed last: `trace dump` of its line.
CLI::App* Chosen(CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

int Fail(const Status& status) {
  SayLine("batchlight: " + status.message());
  return status.exit_code();
}

int Main(int argc, char** argv) {
  CLI::App app(kProgramSentence, "batchlight");
  app.allow_windows_style_options(false);  // a path may begin with a slash there too
  Outcome outcome;
  AddAllCommands(&app, outcome);
  if (const Status status = CheckCommandName(app, argc, argv); !status.ok()) return Fail(status);
  TakeWordsOfPrefixCommand(app, argc, argv, outcome);
  if (const Status status = CheckNoFlagIsAFile(argc, argv); !status.ok()) return Fail(status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_name() != "CallForHelp") return ReportParseError(app, error);
    outcome.status = PrintHelp(Command(Chosen(&app)));
  }
  if (!outcome.status.ok()) return Fail(outcome.status);
  // A program that was recorded keeps its own exit code.
  const bool ran_program = !outcome.words.empty();
  if (const Status written = FinishOut(); !written.ok() && !ran_program) return Fail(written);
  return outcome.exit_code;
}

// What works on recordings and starts no program, which would inherit the limit: it ends with a
// sentence where the kernel would end it, however much the tables of an analysis take.
bool OnlyReads(const std::string_view command) {
  constexpr std::string_view kReaders[] = {"analyze", "diff",   "export", "ranks",
                                           "recipe",  "report", "stats",  "summary",
                                           "table",   "trace",  "tree"};
  return std::find(std::begin(kReaders), std::end(kReaders), command) != std::end(kReaders);
}

struct Words {
  int count;
  char** words;
};

// No exception is expected: one that gets here means that memory ran out, or a bug of ours.
int ContainedMain(void* of) {
  const auto& words = *static_cast<const Words*>(of);
  try {
    // An eighth is for what the kernel charges besides: page tables, mapped parts of files.
    if (words.count > 1 && OnlyReads(words.words[1])) LimitMemory(AvailableMemoryBytes() / 8 * 7);
    return Main(words.count, words.words);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "batchlight: out of memory; read less of the run (--help names the filters). %s\n",
                 kWhatToDoForMemory);
    return static_cast<int>(ErrorKind::kInput);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "batchlight: internal error: %s\n", error.what());
  }
  return static_cast<int>(ErrorKind::kInternal);
}

}  // namespace
}  // namespace batchlight::cli

int main(int argc, char** argv) {
  batchlight::TakeSignals();
  batchlight::GuardMappings();
  batchlight::cli::Words words{argc, argv};
  return batchlight::RunWithEnoughStack(batchlight::cli::ContainedMain, &words);
}
