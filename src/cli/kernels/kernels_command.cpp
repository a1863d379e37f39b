// batchlight kernels: every kernel of a training step, measured by itself while the training runs.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/commands/profile_command.h"
#include "cli/kernels/kernel_tables.h"
#include "cli/reading/job_input.h"
#include "cli/reading/print_help.h"

namespace batchlight::cli {
namespace {

// A step with more is measured in part, and that is said.
constexpr uint64_t kMostKernels = 20'000;

Result<uint64_t> NumberOf(const ParsedFlags& flags, Flag flag, uint64_t least) {
  const std::string text = flags.Text(flag);
  uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || number < least || number > UINT32_MAX) {
    return UsageError("--" + std::string(kFlags[static_cast<size_t>(flag)].name) + ": " + text +
                      " is no number from " + std::to_string(least));
  }
  return number;
}

// What the program looks for in names as its code has them, where C++ ones are mangled: words stand
// there as they are.
Result<std::string> WordsToReplay(const ParsedFlags& flags) {
  const std::string pattern = flags.Text(Flag::kKernelName);
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_|";
  const bool is_words = pattern.find_first_not_of(kLetters) == pattern.npos;
  if (pattern.find_first_not_of('|') != pattern.npos && is_words) return pattern;
  return UsageError(
      "--replay=kernel replays the kernels of --kernel, which then has words of their names: -k "
      "gemm, or -k \"gemm|softmax\"");
}

Result<ProfileOptions> OptionsOf(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(ProfileOptions options, MakeProfileOptions(flags));
  CounterOptions& counters = options.counters;
  counters.sets = flags.List(Flag::kKernelSet);
  for (const std::string& name : flags.List(Flag::kKernelMetrics)) counters.sets.push_back(name);
  ASSIGN_OR_RETURN(counters.first_step, NumberOf(flags, Flag::kKernelStep, 2));
  counters.steps = 1;
  counters.share_ppm = 0;
  counters.kernel_room = kMostKernels;
  counters.first_pass_only = flags.Text(Flag::kKernelReplay) == "none";
  if (flags.Text(Flag::kKernelReplay) == "kernel") {
    ASSIGN_OR_RETURN(counters.replay, WordsToReplay(flags));
  }
  if (flags.Text(Flag::kKernelRank) != "all") {
    ASSIGN_OR_RETURN(counters.rank, NumberOf(flags, Flag::kKernelRank, 0));
  }
  constexpr uint64_t kStallWindows = 10;
  options.stalls.windows = kStallWindows;
  options.stalls.first_step = counters.first_step;
  options.stalls.share_ppm = 0;
  // Where steps end, and whose kernel it is.
  options.session.trace |= format::kTracePython | format::kTracePhases | format::kTraceModules |
                           format::kTraceOperators | format::kTraceShapes;
  return options;
}

Status ReadAgain(const std::string& input, const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const ParsedFlags flags, ParsedFlags::Parse(Verb::kKernels, words));
  if (!flags.command.empty()) {
    return UsageError("batchlight kernels reads one recording at a time: what is " +
                      flags.command.front() + "?");
  }
  ASSIGN_OR_RETURN(KernelView view, MakeKernelView(flags));
  if (flags.Given(Flag::kKernelRank) && flags.Text(Flag::kKernelRank) != "all") {
    ASSIGN_OR_RETURN(const uint64_t rank, NumberOf(flags, Flag::kKernelRank, 0));
    view.rank = static_cast<int32_t>(std::min<uint64_t>(rank, INT32_MAX));
  }
  ASSIGN_OR_RETURN(const Store store, OpenJob({input}, {}));
  return PrintKernels(store, view, input);
}

Status Kernels(const Command& command, Outcome& outcome) {
  const std::vector<std::string>& words = outcome.words;
  ASSIGN_OR_RETURN(const ParsedFlags flags, ParsedFlags::Parse(Verb::kKernels, words));
  if (flags.help) return PrintHelp(command);
  if (flags.Given(Flag::kKernelRun)) return ReadAgain(flags.Text(Flag::kKernelRun), words);
  if (flags.command.empty()) {
    return UsageError(
        "no program whose kernels to measure: batchlight kernels [flags] program ...");
  }
  if (IsRecording(flags.command.front())) {
    std::vector<std::string> others = words;
    others.erase(others.end() - static_cast<ptrdiff_t>(flags.command.size()));
    return ReadAgain(flags.command.front(), others);
  }
  ASSIGN_OR_RETURN(const KernelView view, MakeKernelView(flags));
  ASSIGN_OR_RETURN(const ProfileOptions options, OptionsOf(flags));
  RunSession(
      options,
      [&view](const Store& store, const WrittenFiles& files) {
        return PrintKernels(store, view, files.front().first);
      },
      capture::Inherits::kOutput, outcome);
  return outcome.status;
}

}  // namespace

void RegisterKernels(const Command& app, Outcome& outcome) {
  const Command command =
      app.Add("kernels", "Measure every kernel of a training step, say what bounds it");
  command.Details(
      "The program trains as it does. In the step of --step, and as many after it as the counters "
      "need, its kernels run one after the other and each is measured: nothing is replayed, no "
      "memory is saved. These steps take longer, by about a millisecond a kernel. At the program's "
      "end the tables are printed on standard output.\n\n"
      "With --replay=kernel the first 16 launches of that step whose kernel's name has a word of "
      "--kernel are run again for each pass instead, by CUPTI, which saves and restores the memory "
      "that they write. Collectives, cooperative launches and CUDA graphs are left as they are; "
      "`batchlight table losses` says which.\n\n"
      "With --stalls the ten steps after these are sampled: which instructions the GPU executed, "
      "and what their warps waited for.\n\n"
      "`batchlight kernels RUN` prints them again, and `batchlight table` has each of them.\n\n"
      "The exit code is the program's.");
  command.TakeAllWords();
  command.Runs([command, &outcome] { outcome.status = Kernels(command, outcome); });
}

}  // namespace batchlight::cli
