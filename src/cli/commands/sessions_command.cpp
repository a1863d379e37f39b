// batchlight sessions list, batchlight status: what is running.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "capture/session/session_protocol.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/command.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {
namespace {

struct Row {
  std::string name, state, pid, command;
};

Result<Row> Ask(const std::string& name) {
  capture::Request request;
  request.verb = "status";
  ASSIGN_OR_RETURN(const capture::Reply reply, capture::AskSession(name, request));
  RETURN_IF_ERROR(reply.ToStatus());
  const size_t first = reply.text.find('\t');
  const size_t second = reply.text.find('\t', first + 1);
  if (second == std::string::npos) return InputError("the session " + name + " talks gibberish");
  return Row{name, reply.text.substr(0, first), reply.text.substr(first + 1, second - first - 1),
             reply.text.substr(second + 1)};
}

// The command is what somebody else may have named.
Status Print(const Row& row) {
  return WriteNamesOut(
      fmt::format("{:<20}  {:<10}  {:>8}  {}\n", row.name, row.state, row.pid, row.command));
}

Status List() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, capture::ListSessions());
  RETURN_IF_ERROR(Print({"session", "state", "pid", "command"}));
  for (const std::string& name : names) {
    const auto row = Ask(name);
    RETURN_IF_ERROR(Print(row.ok() ? row.value() : Row{name, "no answer", "", ""}));
  }
  return {};
}

Status ShowStatus(const std::string& session) {
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(session, false));
  ASSIGN_OR_RETURN(const Row row, Ask(name));
  return Print(row);
}

}  // namespace

void RegisterSessions(const Command& app, Outcome& outcome) {
  const Command command = app.Add("sessions", "Sessions that are running");
  command.NeedsSubcommand();
  command.Add("list", "Name, state, pid and command of each").Runs([&outcome] {
    outcome.status = List();
  });
}

void RegisterStatus(const Command& app, Outcome& outcome) {
  auto session = std::make_shared<std::string>();
  const Command command = app.Add("status", "State of one session");
  command.Option("--session", session.get(), kSessionHelp).TypeName("SESSION");
  command.Runs([session, &outcome] { outcome.status = ShowStatus(*session); });
}

}  // namespace batchlight::cli
