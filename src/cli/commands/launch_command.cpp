// batchlight launch: start a program that is recorded when `start` says so.
#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "capture/session/session_protocol.h"
#include "cli/commands/profile_command.h"
#include "cli/reading/print_help.h"

namespace batchlight::cli {
namespace {

// If `start` came first, its options apply and collection begins at once.
Status TakePendingStart(capture::SessionOptions& session) {
  ASSIGN_OR_RETURN(const std::string folder, capture::SessionFolder());
  const std::string path = capture::PendingPath(folder, session.session_name);
  if (!FileExists(path)) return {};
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  unlink(path.c_str());
  ASSIGN_OR_RETURN(const capture::Request request, capture::Request::Decode(text));
  ASSIGN_OR_RETURN(session.capture, capture::ReadStartRequest(request));
  session.wait_for_start = false;
  return {};
}

Status Launch(const Command& command, Outcome& outcome) {
  ASSIGN_OR_RETURN(ParsedFlags flags, ParsedFlags::Parse(Verb::kLaunch, outcome.words));
  if (flags.help) {
    return PrintHelp(command);
  }
  if (flags.command.empty()) {
    return UsageError("no program to launch: batchlight launch [flags] program ...");
  }
  ASSIGN_OR_RETURN(ProfileOptions options, MakeProfileOptions(flags));
  capture::SessionOptions& session = options.session;
  if (session.session_name.empty()) session.session_name = flags.Text(Flag::kSession);
  RETURN_IF_ERROR(capture::CheckSessionName(session.session_name));
  session.wait_for_start = true;
  RETURN_IF_ERROR(TakePendingStart(session));
  RunSession(options, SummaryOn(stderr), capture::Inherits::kOutput, outcome);
  return outcome.status;
}

}  // namespace

void RegisterLaunch(const Command& app, Outcome& outcome) {
  const Command command = app.Add("launch", "Start a program, to be recorded when `start` says so");
  command.Details(
      "The program runs in this terminal and is recorded only between `batchlight start` and "
      "`batchlight "
      "stop`, which are given in another one, before or after.");
  command.TakeAllWords();
  command.Runs([command, &outcome] { outcome.status = Launch(command, outcome); });
}

}  // namespace batchlight::cli
