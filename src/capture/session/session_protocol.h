// What sessions and their clients say to each other, and where they meet:
// $XDG_RUNTIME_DIR/batchlight, or /tmp/batchlight-UID, with NAME.sock for a running session and
// NAME.start for a `start` that came before its `launch`. One message each way, SOCK_SEQPACKET:
//
//   request: "start" NUL "key=value" NUL ...      reply: "<ErrorKind, 0 = fine>" LF "text"
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/recording/options.h"

namespace batchlight::capture {

inline constexpr size_t kMaxMessageBytes = 32 * 1024;

struct Request {
  std::string verb;  // start stop cancel shutdown status
  std::map<std::string, std::string> values;

  std::string Encode() const;
  // Error (kUsage): not a whole request.
  static Result<Request> Decode(const std::string& text);
};

struct Reply {
  ErrorKind kind = ErrorKind::kNone;
  std::string text;

  std::string Encode() const;
  static Reply Decode(const std::string& text);
  Status ToStatus() const {
    return kind == ErrorKind::kNone ? Status() : Status::Error(kind, text);
  }
};

// --stats and --export in one word: "stats,sqlite"; part of a start request and of the answer to
// stop, whose client does that work.
std::string EncodeAfter(const CaptureOptions& options);
void DecodeAfter(const std::string& text, CaptureOptions& options);

Request MakeStartRequest(const CaptureOptions& options);
// Error (kUsage): a value that no start has.
Result<CaptureOptions> ReadStartRequest(const Request& request);

// XDG_RUNTIME_DIR where it is this user's alone: after `su` it may name the folder of the user
// before, who could exchange what lies in it. "": there is none.
std::string OwnRuntimeFolder();
// The folder, made if it is missing. Error (kOutput) if it cannot be made or belongs to another.
Result<std::string> SessionFolder();
std::string SocketPath(const std::string& folder, const std::string& session_name);
std::string PendingPath(const std::string& folder, const std::string& session_name);
// Letters, digits and ".-_" only: the name is a file name and a word on command lines.
Status CheckSessionName(const std::string& name);

// A message of the socket, as large as it is. Errors: none came (kInput), it is larger than
// messages are (kUsage); never the beginning of one.
Result<std::string> ReceiveMessage(int fd);

// A connected socket, or -1 with errno. Waits no longer than a few seconds.
int ConnectToSession(const std::string& socket_path);
// Whether the errno says that nobody listens there any more; other errors are ours (descriptors).
bool IsDeadSession(int connect_error);
// Sends and waits for the answer, of a session's state no longer than a few seconds. Errors: no
// such session runs or it does not answer (kInput), the request is larger than a session takes
// (kUsage).
Result<Reply> AskSession(const std::string& session_name, const Request& request);
// Names of the running sessions; sockets of dead ones are removed.
Result<std::vector<std::string>> ListSessions();

}  // namespace batchlight::capture
