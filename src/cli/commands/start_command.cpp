// batchlight start: begin to record in a session, or in one that is yet to be launched.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "capture/loop/clock.h"
#include "capture/monitor/run_folder.h"
#include "capture/monitor/slow_steps.h"
#include "capture/session/session_protocol.h"
#include "cli/commands/after_recording.h"
#include "cli/commands/profile_command.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/cpu_flags.h"
#include "cli/flags/monitor_flags.h"
#include "cli/reading/print_help.h"

namespace batchlight::cli {
namespace {

// The session may run in another folder, so names are made absolute here.
std::string AbsoluteOutput(const std::string& output) {
  if (!output.empty() && output[0] == '/') return output;
  char folder[4096];
  if (getcwd(folder, sizeof folder) == nullptr) return output;
  std::string absolute;
  for (const char* c = folder; *c != '\0'; ++c) {
    absolute += *c;
    if (*c == '%') absolute += '%';  // no expansion
  }
  return absolute + "/" + output;  // a name that ends in '/' gets the next free report#
}

std::string Range(uint64_t first, uint64_t last) {
  return std::to_string(first) + " to " + std::to_string(last);
}

// --run FOLDER --steps A:B: asks a watched job for a window.
Status AskForWindow(const ParsedFlags& flags) {
  if (!flags.Given(Flag::kSteps)) {
    return UsageError("start --run FOLDER needs --steps, such as --steps +50:+60");
  }
  ASSIGN_OR_RETURN(const auto folder, capture::RunFolder::Open(flags.Text(Flag::kRun)));
  const int64_t now_ns = capture::ClockNow(CLOCK_REALTIME);
  const auto job = folder.FurthestStatus(now_ns);
  if (!job) {
    return InputError(
        "no job is watched in " + folder.path() + ": `batchlight profile --monitor " +
        folder.path() +
        " program ...` watches one (its machines' clocks and this one's may differ by "
        "30 s at most)");
  }
  ASSIGN_OR_RETURN(const AskedSteps asked, ParseAskedSteps(flags.Text(Flag::kSteps), job->step));
  const format::StepRequest known = folder.ReadRequest(job->start_ns);
  const bool is_ahead = known.count != 0 && known.first + known.count > job->step + 1;
  if (is_ahead && !flags.Bool(Flag::kForceOverwrite)) {
    return UsageError("steps " + Range(known.first, known.first + known.count - 1) +
                      " are asked for already and not over; -f takes the new ones in their place");
  }
  RETURN_IF_ERROR(
      folder.WriteRequest({.first = asked.first, .count = asked.last - asked.first + 1}, now_ns));
  Say("steps " + Range(asked.first, asked.last) + " will be recorded; the job is in step " +
      std::to_string(job->step + 1));
  const uint64_t heard = job->step + capture::StepsUntilHeard(job->step_ns);
  if (job->step_ns != 0 && asked.first < heard) {
    Say("the first of them may be missed: the job is looked after once a second, and at its speed "
        "hears in time of steps from +" +
        std::to_string(heard - job->step) + " on");
  }
  return {};
}

Status Start(const Command& command, Outcome& outcome) {
  ASSIGN_OR_RETURN(ParsedFlags flags, ParsedFlags::Parse(Verb::kStart, outcome.words));
  if (flags.help) {
    return PrintHelp(command);
  }
  if (!flags.command.empty()) {
    return UsageError("start takes no program: `batchlight launch` starts one");
  }
  if (flags.Given(Flag::kRun)) return AskForWindow(flags);
  if (flags.Given(Flag::kSteps)) return UsageError("start --steps needs --run FOLDER");
  ASSIGN_OR_RETURN(capture::CaptureOptions options, MakeCaptureOptions(flags));
  std::vector<std::string> without_effect = flags.WithoutEffect();
  for (const std::string& flag : CpuFlagsOfStart(flags)) without_effect.push_back(flag);
  std::vector<std::string> notices = WithoutEffectNotices(without_effect);
  RETURN_IF_ERROR(CheckExports(options, notices));
  if (flags.Given(Flag::kGpuMetricsDevices) || flags.Given(Flag::kGpuMetricsDevice)) {
    notices.push_back(
        "--gpu-metrics-devices is for `launch`: its session samples GPUs whenever it "
        "records");
  }
  for (const std::string& notice : notices) Say(notice);
  options.output = AbsoluteOutput(options.output);
  const bool named = flags.Given(Flag::kSessionNew) || flags.Given(Flag::kSession);
  std::string wanted;
  if (named) {
    wanted = flags.Text(flags.Given(Flag::kSession) ? Flag::kSession : Flag::kSessionNew);
  }
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(wanted, true));
  const capture::Request request = capture::MakeStartRequest(options);
  ASSIGN_OR_RETURN(const std::vector<std::string> running, capture::ListSessions());
  if (std::find(running.begin(), running.end(), name) != running.end()) {
    ASSIGN_OR_RETURN(const capture::Reply reply, capture::AskSession(name, request));
    return reply.ToStatus();
  }
  ASSIGN_OR_RETURN(const std::string folder, capture::SessionFolder());
  RETURN_IF_ERROR(WriteWholeFile(capture::PendingPath(folder, name), request.Encode()));
  Say("recording begins with `batchlight launch --session=" + name + " program ...`");
  return {};
}

}  // namespace

void RegisterStart(const Command& app, Outcome& outcome) {
  const Command command = app.Add("start", "Begin to record a launched program");
  command.Details(
      "For a program that `batchlight launch` or `profile --start-later` started. Given before "
      "`launch`, "
      "recording begins when the program starts.\n\nWith --run: for a job that `profile --monitor` "
      "watches.");
  command.TakeAllWords();
  command.Runs([command, &outcome] { outcome.status = Start(command, outcome); });
}

}  // namespace batchlight::cli
