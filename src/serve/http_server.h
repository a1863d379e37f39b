// An HTTP/1.1 server on the loopback interface or a Unix socket, with hard limits. Knows nothing of
// what it serves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "serve/http.h"

namespace batchlight::serve {

struct ServerLimits {
  size_t header_bytes = 16 << 10;
  size_t body_bytes = 1 << 20;
  size_t connections = 32;
  int64_t arrive_ms = 10'000;  // for a request to arrive in full
  int64_t keep_ms = 60'000;    // for the next one on the same connection
  int64_t idle_ms = 0;         // without any request the server ends; 0: never
};

struct ServerOptions {
  uint16_t port = 0;  // 0: any that is free
  // Another process of this user's holds the port for this server, without listening
  // (SO_REUSEPORT): nobody else gets it when the server has ended.
  bool shares_port = false;
  std::string socket;  // path of a Unix socket instead
  ServerLimits limits;
  std::string content_policy;  // header of every answer
};

// As others in its network may call it; "": it has no name.
std::string MachineName();

class HttpServer {
 public:
  // Listens from here on. Errors (kUsage): the port is in use; (kOutput): the socket cannot be
  // made.
  static Result<HttpServer> Listen(ServerOptions options);
  HttpServer(HttpServer&& other) noexcept;
  HttpServer& operator=(HttpServer&& other) = delete;
  ~HttpServer();

  uint16_t port() const;
  // Serves until Stop(), SIGINT, SIGTERM or the idle time is over. If an answer then does not end,
  // calls `abandon` in a thread of its own, and ends the process.
  void Run(const HttpGate& gate, const HttpHandler& handler, std::function<void()> abandon = {});
  // From any thread, also before Run().
  void Stop();
  // In a thread beside the server, which may wait for files: what ends the server is not for it.
  static void LeaveSignals();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace batchlight::serve
