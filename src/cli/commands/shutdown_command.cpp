// batchlight shutdown: end a session; what is being recorded is kept.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "capture/session/session_protocol.h"
#include "cli/commands/session_choice.h"
#include "cli/flags/command.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {
namespace {

constexpr useconds_t kPollMicroseconds = 20'000;

// Returns once the session is gone, so that the next command can use its recording.
Status Shutdown(const std::string& session, const std::string& kill_text) {
  ASSIGN_OR_RETURN(const std::string name, ChooseSession(session, false));
  ASSIGN_OR_RETURN(const int signal, ParseSignal(kill_text));
  capture::Request request;
  request.verb = "shutdown";
  request.values["signal"] = std::to_string(signal);
  ASSIGN_OR_RETURN(const capture::Reply reply, capture::AskSession(name, request));
  RETURN_IF_ERROR(reply.ToStatus());
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<std::string> running, capture::ListSessions());
    if (std::find(running.begin(), running.end(), name) == running.end()) return {};
    usleep(kPollMicroseconds);
  }
}

}  // namespace

void RegisterShutdown(const Command& app, Outcome& outcome) {
  auto session = std::make_shared<std::string>();
  auto signal = std::make_shared<std::string>("sigterm");
  const Command command = app.Add("shutdown", "End a session and its program");
  command.Option("--session", session.get(), kSessionHelp).TypeName("SESSION");
  command
      .Option("--kill", signal.get(),
              "Signal to the program: none (it runs on), sigkill, sigterm or a number")
      .TypeName("none|sigterm|sigkill|N")
      .ShowDefault();
  command.Runs([session, signal, &outcome] { outcome.status = Shutdown(*session, *signal); });
}

}  // namespace batchlight::cli
