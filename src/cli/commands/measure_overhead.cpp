#include "cli/commands/measure_overhead.h"

#include <unistd.h>

#include <csignal>

#include "analysis/run/measured_overhead.h"
#include "capture/recording/live_folder.h"
#include "capture/session/plain_run.h"
#include "capture/session/session.h"
#include "cli/commands/profile_command.h"
#include "cli/reading/repeatable_input.h"
#include "cli/reading/temporary_folder.h"
#include "ingest/open_input.h"

namespace batchlight::cli {
namespace {

using capture::SessionOptions;

// A folder for recordings that are only read and not kept. Another user whose program is recorded
// (--run-as) can go through it, no more: the folder that the program writes into is given to that
// user as any recording's is.
Result<TemporaryFolder> MakeScratchFolder(const std::optional<capture::RunAs>& run_as) {
  ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Make("batchlight-"));
  if (!capture::IsAnother(run_as)) return folder;
  if (!folder.LetOthersThrough() || !capture::CanReach(*run_as, folder.path(), X_OK)) {
    return OutputError("--measure-overhead: " + run_as->name + " cannot reach " + folder.path() +
                       ", where its runs are recorded; set TMPDIR to a folder that " +
                       run_as->name + " can go through");
  }
  return folder;
}

// The same program, recorded into `output` with its own output hidden.
SessionOptions Unseen(const SessionOptions& options, const std::string& output) {
  SessionOptions unseen = options;
  unseen.capture.output = output;
  unseen.capture.replace = true;
  unseen.capture.after_start.clear();
  unseen.capture.after_report.clear();
  unseen.show_output = false;
  return unseen;
}

// Records just enough to find where steps end: calls of the training loop and the program's own
// ranges.
SessionOptions StepsOnly(const SessionOptions& options, const std::string& output) {
  SessionOptions only = Unseen(options, output);
  const uint32_t trace = options.trace;
  only.trace = trace & (format::kTraceNvtx | format::kTracePython);
  if ((trace & format::kTraceModules) != 0) only.trace |= format::kTracePhases;
  const capture::CaptureOptions whole_run;
  only.capture.trigger = whole_run.trigger;
  only.capture.range_end = whole_run.range_end;
  only.capture.range_message.clear();
  only.capture.windows.clear();
  only.delay_s = 0;
  only.extra.clear();
  only.functions_trace.clear();
  only.python_period_ns = 0;
  return only;
}

struct RecordedRun {
  int64_t wall_ns = 0;
  int64_t step_ns = 0;
  std::string marker;
  int exit_code = 0;
  bool interrupted = false;
  bool others_know = false;
  bool started = false;
};

Result<RecordedRun> RunRecorded(const SessionOptions& options) {
  capture::Session session(
      options, [](const std::string&) {}, [](double) {});
  ASSIGN_OR_RETURN(const capture::SessionEnd end, session.Run());
  if (!end.program_ran) return RecordedRun{.exit_code = end.exit_code, .others_know = true};
  RETURN_IF_ERROR(end.sealed);
  RecordedRun run{.wall_ns = end.wall_ns,
                  .exit_code = end.exit_code,
                  .interrupted = end.interrupted,
                  .others_know = end.others_know,
                  .started = true};
  if (end.recordings.empty()) return run;
  const capture::SealedRecording& last = *end.recordings.back();
  ASSIGN_OR_RETURN(MappedFile file, last.Map());
  ASSIGN_OR_RETURN(const Store store, OpenSealed(std::move(file), last.path()));
  for (const auto& sealed : end.recordings) sealed->folder().Remove(LastPartOf(sealed->path()));
  const StepSet steps = FindSteps(store);
  run.step_ns = MedianStepNs(steps);
  run.marker = StepMarkerOf(steps);
  return run;
}

void Append(std::string& list, int64_t number) {
  list += (list.empty() ? "" : ",") + std::to_string(number);
}

class Measurement {
 public:
  Measurement(const SessionOptions& options, uint32_t rounds, TemporaryFolder folder,
              RepeatableInput input)
      : options_(options), rounds_(rounds), folder_(std::move(folder)), input_(input) {}

  Result<OverheadRuns> Run() {
    for (uint32_t round = 1; round <= rounds_ && problem_.empty() && !runs_.interrupted; ++round) {
      RETURN_IF_ERROR(RunRound(round));
    }
    const std::pair<std::string_view, const std::string&> facts[] = {
        {kPlainWallKey, plain_wall_},       {kPlainStepKey, plain_step_},
        {kProfiledWallKey, profiled_wall_}, {kProfiledStepKey, profiled_step_},
        {kStepMarkerKey, marker_},          {kOverheadProblemKey, problem_}};
    for (const auto& [key, value] : facts) {
      if (!value.empty()) runs_.facts.emplace_back(std::string(key), value);
    }
    if (!runs_.interrupted && problem_.empty()) Announce(rounds_, "with the profiler");
    return std::move(runs_);
  }

 private:
  Status RunRound(uint32_t round) {
    if (round == 1 || !marker_.empty()) {
      Announce(round, "with only the ends of steps recorded (output not shown)");
      ASSIGN_OR_RETURN(const RecordedRun steps, RunRecorded(StepsOnly(options_, output_)));
      if (Interrupted(steps)) return {};
      if (!steps.started) return Fail("the program cannot be started");
      if (round == 1) marker_ = steps.marker;
      Append(plain_step_, steps.marker == marker_ ? steps.step_ns : 0);
    }
    input_.Rewind();
    Announce(round, "without the profiler (output not shown)");
    SessionOptions plain = options_;
    plain.show_output = false;
    ASSIGN_OR_RETURN(const capture::PlainEnd end, capture::RunPlain(plain));
    if (!end.problem.empty()) return Fail(end.problem);
    if (Interrupted(end)) return {};
    input_.Rewind();
    if (end.exit_code != 0) {
      return Fail("the program fails without the profiler, too: exit code " +
                  std::to_string(end.exit_code));
    }
    Append(plain_wall_, end.wall_ns);
    if (round == rounds_) return {};
    Announce(round, "with the profiler (output not shown)");
    ASSIGN_OR_RETURN(const RecordedRun run, RunRecorded(Unseen(options_, output_)));
    if (Interrupted(run)) return {};
    input_.Rewind();
    Append(profiled_wall_, run.wall_ns);
    Append(profiled_step_, run.marker == marker_ ? run.step_ns : 0);
    return {};
  }

  // No error: the run that is shown still follows, and tells more.
  Status Fail(const std::string& why) {
    problem_ = "not measured: " + why;
    Say("--measure-overhead: " + problem_);
    return {};
  }

  // Someone who ends one run, at the keyboard or with a signal to the tool, means to end all of
  // them.
  template <typename Run>
  bool Interrupted(const Run& run) {
    const int code = run.exit_code;
    const bool ended = code == 128 + SIGINT || code == 128 + SIGTERM || code == 128 + SIGHUP;
    runs_.interrupted = run.interrupted || ended;
    runs_.others_know = run.others_know;
    runs_.exit_code = code;
    return runs_.interrupted;
  }

  void Announce(uint32_t round, const std::string& how) const {
    const std::string of =
        rounds_ > 1 ? "round " + std::to_string(round) + " of " + std::to_string(rounds_) + ", "
                    : "";
    Say("--measure-overhead: " + of + how);
  }

  const SessionOptions& options_;
  uint32_t rounds_;
  TemporaryFolder folder_;
  const std::string output_ = folder_.path() + "/run";
  RepeatableInput input_;
  OverheadRuns runs_;
  std::string problem_;
  std::string marker_;
  std::string plain_wall_, plain_step_, profiled_wall_, profiled_step_;
};

}  // namespace

Result<OverheadRuns> MeasureOverhead(const SessionOptions& options, uint32_t rounds) {
  ASSIGN_OR_RETURN(TemporaryFolder folder, MakeScratchFolder(options.run_as));
  ASSIGN_OR_RETURN(const RepeatableInput input, RepeatableInput::Make());
  return Measurement(options, rounds, std::move(folder), input).Run();
}

}  // namespace batchlight::cli
