// batchlight sessions list, batchlight status: what is running.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "capture/session/session_protocol.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/command.h"

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

void Print(const Row& row) {
  std::printf("%-20s  %-10s  %8s  %s\n", row.name.c_str(), row.state.c_str(), row.pid.c_str(),
              row.command.c_str());
}

Status List() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, capture::ListSessions());
  Print({"session", "state", "pid", "command"});
  for (const std::string& name : names) {
    const auto row = Ask(name);
    if (row.ok()) Print(row.value());  // otherwise it ended just now
  }
  return {};
}

Status ShowStatus(const std::string& session) {
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(session, false));
  ASSIGN_OR_RETURN(const Row row, Ask(name));
  Print(row);
  return {};
}

}  // namespace

void RegisterSessions(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("sessions", "Sessions that are running");
  command->require_subcommand(1);
  command->add_subcommand("list", "Name, state, pid and command of each")->callback([&outcome] {
    outcome.status = List();
  });
}

void RegisterStatus(CLI::App& app, Outcome& outcome) {
  auto session = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("status", "State of one session");
  command->add_option("--session", *session, kSessionHelp);
  command->callback([session, &outcome] { outcome.status = ShowStatus(*session); });
}

}  // namespace batchlight::cli
