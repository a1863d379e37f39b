#include "capture/session/session_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace batchlight::capture {

SessionServer::~SessionServer() {
  if (fd_ < 0) return;
  loop_.Remove(fd_);
  close(fd_);
  unlink(path_.c_str());
}

namespace {

// A socket bound to `path` that listens already, or -1 with errno set.
int ListenAt(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(fd, 16) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// Gives the socket its name unless somebody listens there; a dead session's socket makes way.
bool TakeName(const std::string& made, const std::string& name) {
  if (link(made.c_str(), name.c_str()) == 0) return true;
  if (errno != EEXIST) return false;
  if (const int other = ConnectToSession(name); other >= 0) {
    close(other);
    errno = EEXIST;
    return false;
  }
  if (!IsDeadSession(errno)) {
    if (errno == EAGAIN) errno = EEXIST;  // it does not answer, but it is there
    return false;
  }
  unlink(name.c_str());
  return link(made.c_str(), name.c_str()) == 0;
}

}  // namespace

// A socket has its name only when it listens: whoever finds a name where nobody listens, such as
// ListSessions(), takes the session for dead and removes it.
Status SessionServer::Open(const std::string& session_name) {
  RETURN_IF_ERROR(CheckSessionName(session_name));
  ASSIGN_OR_RETURN(const std::string folder, SessionFolder());
  const std::string path = SocketPath(folder, session_name);
  const std::string made = path + "." + std::to_string(getpid());
  if (made.size() >= sizeof(sockaddr_un::sun_path)) {
    return OutputError("the path " + path +
                       " is too long for a socket; choose another session name");
  }
  unlink(made.c_str());
  const int fd = ListenAt(made);
  const bool named = fd >= 0 && TakeName(made, path);
  const int error = errno;
  unlink(made.c_str());
  if (!named) {
    if (fd >= 0) close(fd);
    if (error != EEXIST) return OutputError("cannot open " + path + ": " + std::strerror(error));
    return UsageError("a session named " + session_name +
                      " is already running; choose another name with --session-new");
  }
  fd_ = fd;
  path_ = path;
  loop_.Add(fd_, [this] { Accept(); });
  return {};
}

void SessionServer::Accept() {
  const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  loop_.Add(client, [this, client] { Answer(client); });
}

void SessionServer::Answer(int client_fd) {
  const auto text = ReceiveMessage(client_fd);
  if (text.status().kind() == ErrorKind::kInput && errno == EAGAIN) return;
  if (text.ok() || text.status().kind() == ErrorKind::kUsage) {
    auto request = text.ok() ? Request::Decode(text.value()) : Result<Request>(text.status());
    const Reply reply = request.ok() ? Execute(request.value())
                                     : Reply{request.status().kind(), request.status().message()};
    const std::string bytes = reply.Encode();
    // The client may have gone away, which takes nothing from the session.
    (void)send(client_fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  loop_.Remove(client_fd);
  close(client_fd);
}

Reply SessionServer::Execute(const Request& request) {
  const auto reply = [](const Status& status) { return Reply{status.kind(), status.message()}; };
  if (request.verb == "start") {
    const auto options = ReadStartRequest(request);
    return reply(options.ok() ? commands_.Start(options.value()) : options.status());
  }
  if (request.verb == "cancel") return reply(commands_.Cancel());
  if (request.verb == "status") return {ErrorKind::kNone, commands_.Describe()};
  if (request.verb == "stop") {
    auto path = commands_.Stop();
    return path.ok() ? Reply{ErrorKind::kNone, path.value()} : reply(path.status());
  }
  if (request.verb == "shutdown") {
    const auto signal = request.values.find("signal");
    return reply(commands_.Shutdown(signal == request.values.end()
                                        ? std::nullopt
                                        : std::optional(std::atoi(signal->second.c_str()))));
  }
  return {ErrorKind::kUsage, "unknown request " + request.verb};
}

}  // namespace batchlight::capture
