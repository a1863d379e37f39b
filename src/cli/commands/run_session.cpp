#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/contain.h"
#include "base/printable_text.h"
#include "base/trusted_path.h"
#include "capture/cpu/file_rights.h"
#include "capture/loop/cpu_limit.h"
#include "capture/recording/output_name.h"
#include "capture/session/plain_run.h"
#include "capture/session/session.h"
#include "cli/commands/measure_overhead.h"
#include "cli/commands/plan_counters.h"
#include "cli/commands/profile_command.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/standard_output.h"
#include "format/launchers.h"
#include "ingest/recording/source_lines.h"

namespace batchlight::cli {
namespace {

// The session is over when this returns: from then on Ctrl-C ends the tool, which only reads.
Result<capture::SessionEnd> RunToTheEnd(capture::SessionOptions options) {
  ProgressLine progress;
  capture::Session session(std::move(options), Say,
                           [&progress](double share) { progress.Show("sealing", share); });
  return session.Run();
}

void ReportSealing(const capture::SessionEnd& end, Outcome& outcome) {
  if (end.sealed.ok()) return;
  Say(end.sealed.message());
  const std::string folder = ShellPath(end.live_folder);
  if (access(end.live_folder.c_str(), F_OK) != 0) {
    Say("nothing of it is left: somebody removed " + folder +
        " or gave it another name while the program ran");
  } else if (!end.recording_is_left) {
    Say("nothing of it is left in " + folder + ": somebody emptied it while the program ran");
  } else {
    Say("what was recorded is kept: `batchlight summary " + folder +
        "` opens it, `batchlight trace seal " + folder + "` makes a file of it");
  }
  if (outcome.exit_code == 0) outcome.exit_code = static_cast<int>(ErrorKind::kOutput);
}

// Checked first, so that the program does not run several times in vain. A pid in the name would
// make it unique, so 0 stands for it here.
Status CheckOutputName(const capture::CaptureOptions& options) {
  if (options.output.empty() || options.replace) return {};
  ASSIGN_OR_RETURN(const std::string name, capture::ExpandOutputName(options.output, 0));
  return capture::CheckOutputIsFree(name, options.Several());
}

void DieOf(int signal, bool others_know) {
  std::fflush(nullptr);
  ::signal(signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  kill(others_know ? getpid() : 0, signal);
}

// The program died of Ctrl-C, so the tool does too. That also ends the script that started it,
// which would have received the same Ctrl-C had it been in the program's process group.
void DieOfInterrupt(bool others_know) { DieOf(SIGINT, others_know); }

// The rank that a launcher gave to the tool itself.
std::optional<int> LaunchedRank() {
  for (const format::Launcher& launcher : format::kLaunchers) {
    const char* const value = std::getenv(launcher.rank);
    if (value == nullptr) continue;
    int rank = 0;
    const std::string_view text = value;
    std::from_chars(text.data(), text.data() + text.size(), rank);
    return rank;
  }
  return std::nullopt;
}

// --ranks leaves this rank out: its program runs as it is, and nothing is said.
Result<bool> RunsPlainly(const ProfileOptions& options, Outcome& outcome) {
  if (options.ranks.stretches.empty()) return false;
  const std::optional<int> rank = LaunchedRank();
  if (!rank) {
    return UsageError(
        "--ranks: no launcher says which rank this is; it chooses among ranks of which each "
        "is started by a batchlight of its own");
  }
  if (options.ranks.Has(*rank)) return false;
  capture::SessionOptions plain = options.session;
  plain.keeps = capture::Inherits::kNothing;
  ASSIGN_OR_RETURN(const capture::PlainEnd end, capture::RunPlain(plain));
  outcome.exit_code = end.exit_code;
  if (!end.problem.empty()) Say(end.problem);
  if (end.interrupted) DieOfInterrupt(end.others_know);
  return true;
}

// Of a thousand ranks that are recorded each by a tool of its own, the lowest prints the summary
// and the others print this.
void SayRecorded(int rank, int lowest, const capture::SealedRecordings& recordings) {
  if (recordings.empty()) return;
  Say("rank " + std::to_string(rank) + " is recorded; only rank " + std::to_string(lowest) +
      " prints: `batchlight summary " + recordings.back()->path() + "`");
}

// After --run-as the recording lies in a folder where its user may have put links; as root the tool
// would follow them. So from here on it is that user, unless the folder that was recorded into, and
// each on the way to it, is root's alone.
Status BecomeReader(const std::optional<capture::RunAs>& user,
                    const capture::SealedRecordings& recordings) {
  if (!user || recordings.empty()) return {};
  if (WhyNotTrusted(recordings.back()->folder().DescriptorPath()).empty()) return {};
  if (capture::Become(*user)) return {};
  return OutputError("--run-as: cannot become " + user->name +
                     " to read the recording: " + std::strerror(errno));
}

// Also where root's tool remains root: the program says which files its lines are of.
void ReadSourcesAs(const std::optional<capture::RunAs>& user) {
  if (!capture::IsAnother(user)) return;
  ReadSourcesWith([owner = capture::FileOwner{user->uid, user->gid, user->groups}] {
    return std::make_shared<const capture::FileRights>(owner);
  });
}

// The summary is a courtesy, and the program's own code says more; what was asked for is not.
void ReadRecorded(const capture::SessionEnd& end, const std::optional<capture::RunAs>& run_as,
                  const ShowRecording& show, Outcome& outcome) {
  const bool asked = end.capture.stats || !end.capture.exports.empty();
  const auto code_of = [&](const Status& status) {
    return asked && outcome.exit_code == 0 ? status.exit_code() : outcome.exit_code;
  };
  capture::EndAtCpuLimit(code_of(OutputError("")),
                         "the recording is there, not all that is made of it");
  const Status status = Contain("reading what was recorded", [&] {
    RETURN_IF_ERROR(BecomeReader(run_as, end.recordings));
    ReadSourcesAs(run_as);
    return AfterRecording(end.recordings, end.capture, show);
  });
  if (status.ok()) return;
  const bool is_there = !end.recordings.empty() && end.recordings.back()->CheckIsNamed().ok();
  Say(status.message() + (is_there ? "; it is in " + end.recordings.back()->path() : ""));
  outcome.exit_code = code_of(status);
}

}  // namespace

void Say(const std::string& line) { SayLine("batchlight: " + line); }

void RunSession(const ProfileOptions& options, const ShowRecording& show, capture::Inherits keeps,
                Outcome& outcome, Shows who) {
  capture::SessionOptions wanted = options.session;
  std::vector<std::string> notices = WithoutEffectNotices(options.without_effect);
  outcome.status = CheckExports(wanted.capture, notices);
  if (!outcome.status.ok()) return;
  const auto plainly = RunsPlainly(options, outcome);
  outcome.status = plainly.status();
  if (!plainly.ok() || plainly.value()) return;
  ChooseStalls(options.stalls, options.counters, wanted);
  outcome.status = PlanCounters(options.counters, wanted, notices);
  if (outcome.status.ok()) outcome.status = ChooseGpuMetrics(options, wanted);
  if (!outcome.status.ok()) return;
  for (const std::string& notice : notices) Say(notice);
  wanted.tool_version = BATCHLIGHT_VERSION;
  if (options.overhead_rounds > 0) {
    outcome.status = CheckOutputName(wanted.capture);
    if (!outcome.status.ok()) return;
    auto runs = MeasureOverhead(wanted, options.overhead_rounds);
    outcome.status = runs.status();
    if (!runs.ok()) return;
    for (auto& fact : runs->facts) wanted.facts.push_back(std::move(fact));
    if (runs->interrupted) {
      outcome.exit_code = runs->exit_code;
      if (runs->exit_code == 128 + SIGINT) DieOfInterrupt(runs->others_know);
      return;
    }
  }
  wanted.keeps = keeps;
  auto result = RunToTheEnd(std::move(wanted));
  if (!result.ok()) {
    outcome.status = result.status();
    return;
  }
  const capture::SessionEnd& end = result.value();
  outcome.exit_code = end.exit_code;
  if (!end.program_ran) {
    if (!end.problem.empty()) Say(end.problem);
    if (end.ended_by != 0) DieOf(end.ended_by, true);
    return;
  }
  ReportSealing(end, outcome);
  const int lowest = static_cast<int>(options.ranks.Lowest());
  const int rank = LaunchedRank().value_or(lowest);
  const bool another_shows = rank > lowest && who == Shows::kLowestRank;
  if (another_shows) SayRecorded(rank, lowest, end.recordings);
  ReadRecorded(end, options.session.run_as, another_shows ? ShowRecording() : show, outcome);
  if (end.interrupted) DieOfInterrupt(end.others_know);
}

}  // namespace batchlight::cli
