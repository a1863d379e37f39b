#include "capture/session/session_protocol.h"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/folder.h"

namespace batchlight::capture {
namespace {

constexpr time_t kPatienceSeconds = 3;

uint32_t ToNumber(const Request& request, const char* key) {
  const auto found = request.values.find(key);
  return found == request.values.end()
             ? 0
             : static_cast<uint32_t>(std::strtoul(found->second.c_str(), nullptr, 10));
}

std::string ToText(const Request& request, const char* key) {
  const auto found = request.values.find(key);
  return found == request.values.end() ? std::string() : found->second;
}

Status TooLarge(size_t bytes) {
  return UsageError("the request has " + std::to_string(bytes) + " bytes, a session takes " +
                    std::to_string(kMaxMessageBytes) +
                    "; nothing was done. Shorten the commands "
                    "(--after-...): a script can hold them");
}

void LimitWait(int fd, int option) {
  const timeval limit{kPatienceSeconds, 0};
  setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit);
}

Status NoAnswer(const std::string& session_name) {
  return InputError("the session " + session_name +
                    " does not answer: it is stopped, or at work with a large recording; try again "
                    "later");
}

// Whether it is a folder of this user that nobody else can put anything into.
bool IsOwnAlone(const std::string& path) {
  const auto folder = Folder::Open(path, false);
  return folder.ok() && folder->IsOursAlone();
}

}  // namespace

std::string Request::Encode() const {
  std::string text = verb + '\0';
  for (const auto& [key, value] : values) text += key + "=" + value + '\0';
  return text;
}

Result<Request> Request::Decode(const std::string& text) {
  if (!text.ends_with('\0')) return UsageError("the request is not whole; nothing was done");
  Request request;
  size_t begin = text.find('\0');
  request.verb = text.substr(0, begin);
  while (++begin < text.size()) {
    const size_t end = text.find('\0', begin);
    const std::string line = text.substr(begin, end - begin);
    const size_t equals = line.find('=');
    if (equals == std::string::npos) {
      return UsageError("the request has a word without a value; nothing was done");
    }
    request.values[line.substr(0, equals)] = line.substr(equals + 1);
    begin = end;
  }
  return request;
}

std::string Reply::Encode() const { return std::to_string(static_cast<int>(kind)) + "\n" + text; }

Reply Reply::Decode(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return {ErrorKind::kInternal, "the session gave no answer"};
  return {static_cast<ErrorKind>(std::atoi(text.c_str())), text.substr(end + 1)};
}

std::string EncodeAfter(const CaptureOptions& options) {
  std::string text = options.stats ? "stats" : "";
  for (const std::string& type : options.exports) text += "," + type;
  return text;
}

void DecodeAfter(const std::string& text, CaptureOptions& options) {
  options.stats = text.starts_with("stats");
  options.exports.clear();
  for (size_t comma = text.find(','); comma != std::string::npos;) {
    const size_t next = text.find(',', comma + 1);
    options.exports.push_back(text.substr(comma + 1, next - comma - 1));
    comma = next;
  }
}

Request MakeStartRequest(const CaptureOptions& options) {
  Request request;
  request.verb = "start";
  request.values["output"] = options.output;
  request.values["replace"] = options.replace ? "1" : "0";
  request.values["trigger"] = std::to_string(static_cast<int>(options.trigger));
  request.values["range_end"] = std::to_string(static_cast<int>(options.range_end));
  request.values["repeat"] = std::to_string(options.repeat);
  request.values["range_message"] = options.range_message;
  request.values["range_domain"] = options.range_domain;
  request.values["stop_on_exit"] = options.stop_on_exit ? "1" : "0";
  request.values["after"] = EncodeAfter(options);
  request.values["after_start"] = options.after_start;
  request.values["after_report"] = options.after_report;
  return request;
}

Result<CaptureOptions> ReadStartRequest(const Request& request) {
  if (ToNumber(request, "trigger") > static_cast<uint32_t>(format::CaptureTrigger::kSteps) ||
      ToNumber(request, "range_end") > static_cast<uint32_t>(RangeEnd::kRepeatShutdown)) {
    return UsageError("the request comes from another version of batchlight; nothing was done");
  }
  CaptureOptions options;
  options.output = ToText(request, "output");
  options.replace = ToNumber(request, "replace") != 0;
  options.trigger = static_cast<format::CaptureTrigger>(ToNumber(request, "trigger"));
  options.range_end = static_cast<RangeEnd>(ToNumber(request, "range_end"));
  options.repeat = ToNumber(request, "repeat");
  options.range_message = ToText(request, "range_message");
  options.range_domain = ToText(request, "range_domain");
  options.stop_on_exit = ToNumber(request, "stop_on_exit") != 0;
  DecodeAfter(ToText(request, "after"), options);
  options.after_start = ToText(request, "after_start");
  options.after_report = ToText(request, "after_report");
  return options;
}

std::string OwnRuntimeFolder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const bool is_own =
      runtime != nullptr && *runtime == '/' && access(runtime, W_OK) == 0 && IsOwnAlone(runtime);
  return is_own ? runtime : "";
}

Result<std::string> SessionFolder() {
  const std::string runtime = OwnRuntimeFolder();
  std::string folder =
      runtime.empty() ? "/tmp/batchlight-" + std::to_string(getuid()) : runtime + "/batchlight";
  const bool made = mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  const int reason = errno;
  // In /tmp anybody could have made it first.
  if (!made || !IsOwnAlone(folder)) {
    return OutputError("cannot keep sessions in " + folder + ": " +
                       (made ? "it belongs to somebody else, or others may write into it"
                             : std::strerror(reason)) +
                       "; set XDG_RUNTIME_DIR to a folder of your own");
  }
  return folder;
}

std::string SocketPath(const std::string& folder, const std::string& session_name) {
  return folder + "/" + session_name + ".sock";
}

std::string PendingPath(const std::string& folder, const std::string& session_name) {
  return folder + "/" + session_name + ".start";
}

Status CheckSessionName(const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= 60 && name[0] != '.' &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
      });
  if (good) return {};
  return UsageError("\"" + name + "\" cannot name a session: use up to 60 letters, digits, . - _");
}

int ConnectToSession(const std::string& socket_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  LimitWait(fd, SO_SNDTIMEO);  // of one that is stopped, connections pile up
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool IsDeadSession(int connect_error) { return connect_error == ECONNREFUSED; }

Result<Reply> AskSession(const std::string& session_name, const Request& request) {
  ASSIGN_OR_RETURN(const std::string folder, SessionFolder());
  const int fd = ConnectToSession(SocketPath(folder, session_name));
  if (fd < 0 && errno == EAGAIN) return NoAnswer(session_name);
  if (fd < 0) {
    return InputError("no session named " + session_name +
                      " is running; `batchlight sessions list` shows those that are");
  }
  const std::string text = request.Encode();
  if (text.size() > kMaxMessageBytes) {
    close(fd);
    return TooLarge(text.size());
  }
  // Of the others, `stop` lasts as long as sealing does.
  if (request.verb == "status") LimitWait(fd, SO_RCVTIMEO);
  const bool sent = send(fd, text.data(), text.size(), MSG_NOSIGNAL) >= 0;
  const auto reply = sent ? ReceiveMessage(fd) : Result<std::string>(InputError("not sent"));
  const bool waited = errno == EAGAIN;
  close(fd);
  if (!reply.ok() && waited) return NoAnswer(session_name);
  if (!reply.ok()) return InputError("the session " + session_name + " ended without an answer");
  return Reply::Decode(reply.value());
}

Result<std::string> ReceiveMessage(int fd) {
  std::string buffer(kMaxMessageBytes, '\0');
  ssize_t count = 0;
  errno = 0;  // says why no message came
  do {
    count = recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);  // the length before it was cut
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return InputError("no message");
  if (static_cast<size_t>(count) > buffer.size()) return TooLarge(static_cast<size_t>(count));
  buffer.resize(static_cast<size_t>(count));
  return buffer;
}

Result<std::vector<std::string>> ListSessions() {
  ASSIGN_OR_RETURN(const std::string folder, SessionFolder());
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), closedir);
  while (directory != nullptr) {
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) break;
    const std::string file = entry->d_name;
    if (!file.ends_with(".sock")) continue;
    const std::string path = folder + "/" + file;
    const int fd = ConnectToSession(path);
    if (fd < 0 && IsDeadSession(errno)) {
      unlink(path.c_str());
      continue;
    }
    if (fd >= 0) close(fd);
    names.push_back(file.substr(0, file.size() - 5));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace batchlight::capture
