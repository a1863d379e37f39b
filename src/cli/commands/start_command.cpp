// batchlight start: begin to record in a session, or in one that is yet to be launched.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "capture/session/session_protocol.h"
#include "cli/commands/after_recording.h"
#include "cli/commands/profile_command.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/cpu_flags.h"
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

Status Start(const Command& command, Outcome& outcome) {
  ASSIGN_OR_RETURN(ParsedFlags flags, ParsedFlags::Parse(Verb::kStart, outcome.words));
  if (flags.help) {
    return PrintHelp(command);
  }
  if (!flags.command.empty()) {
    return UsageError("start takes no program: `batchlight launch` starts one");
  }
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
      "recording begins when the program starts.");
  command.TakeAllWords();
  command.Runs([command, &outcome] { outcome.status = Start(command, outcome); });
}

}  // namespace batchlight::cli
