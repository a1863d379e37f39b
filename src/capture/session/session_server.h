// The door through which start, stop, cancel and shutdown reach a running session: a socket in the
// user's runtime folder, one per session.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "capture/loop/event_loop.h"
#include "capture/recording/options.h"
#include "capture/session/session_protocol.h"

namespace batchlight::capture {

// What a session does for its clients.
class SessionCommands {
 public:
  virtual ~SessionCommands() = default;
  virtual Status Start(const CaptureOptions& options) = 0;
  // EncodeAfter() of the start, then each sealed recording, a line with its Identity() and its
  // path.
  virtual Result<std::string> Stop() = 0;
  virtual Status Cancel() = 0;
  // Ends the session; `signal` overrides the session's --kill.
  virtual Status Shutdown(std::optional<int> signal) = 0;
  // One line: state, pid, command.
  virtual std::string Describe() = 0;
};

class SessionServer {
 public:
  // Both outlive this object.
  SessionServer(EventLoop& loop, SessionCommands& commands) : loop_(loop), commands_(commands) {}
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;
  ~SessionServer();

  // Error (kUsage) if a session of that name is running, kOutput if there is no place for sockets.
  Status Open(const std::string& session_name);

 private:
  void Accept();
  void Answer(int client_fd);
  Reply Execute(const Request& request);

  EventLoop& loop_;
  SessionCommands& commands_;
  std::string path_;
  int fd_ = -1;
};

}  // namespace batchlight::capture
