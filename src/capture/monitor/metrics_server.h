// Answers GET /metrics on the loopback interface (`--metrics-port`): one connection at a time, one
// request each, at most a second. Its caller waits for connections.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace batchlight::capture {

class MetricsServer {
 public:
  // On 127.0.0.1 alone; port 0: any that is free. Errors (kOutput): the port is taken.
  static Result<MetricsServer> Listen(uint16_t port);
  MetricsServer(MetricsServer&& other) noexcept;
  MetricsServer& operator=(MetricsServer&& other) = delete;
  ~MetricsServer();

  uint16_t port() const { return port_; }
  int fd() const { return fd_; }  // can be read: somebody connects
  // Answers who connects with `metrics`.
  void Answer(const std::string& metrics) const;

 private:
  MetricsServer(int fd, uint16_t port) : fd_(fd), port_(port) {}
  int fd_ = -1;
  uint16_t port_ = 0;
};

// The whole answer to a request's head. Host must name this machine's loopback: any page in a
// browser can have its name point here.
std::string MetricsAnswer(const std::string& head, const std::string& metrics);

}  // namespace batchlight::capture
