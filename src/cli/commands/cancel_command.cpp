// batchlight cancel: end the recording of a session and discard it; its program runs on.
#include <memory>
#include <string>

#include "capture/session/session_protocol.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

Status Cancel(const std::string& session) {
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(session, false));
  capture::Request request;
  request.verb = "cancel";
  ASSIGN_OR_RETURN(const capture::Reply reply, capture::AskSession(name, request));
  return reply.ToStatus();
}

}  // namespace

void RegisterCancel(const Command& app, Outcome& outcome) {
  auto session = std::make_shared<std::string>();
  const Command command = app.Add("cancel", "Drop what a session is recording");
  command.Option("--session", session.get(), kSessionHelp).TypeName("SESSION");
  command.Runs([session, &outcome] { outcome.status = Cancel(*session); });
}

}  // namespace batchlight::cli
