// Answers GET /metrics on the loopback interface (`--metrics-port`): one request for each
// connection, which lives a second. Any user of the machine may connect: who is slow holds up
// nobody else, and gives way where there are too many.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::capture {

class MetricsServer {
 public:
  // On 127.0.0.1 alone, and nobody else on ::1; port 0: any that is free. Errors (kOutput): the
  // port is taken.
  static Result<MetricsServer> Listen(uint16_t port);
  MetricsServer(MetricsServer&& other) noexcept;
  MetricsServer& operator=(MetricsServer&& other) = delete;
  ~MetricsServer();

  uint16_t port() const { return port_; }
  // Answers who connects with `metrics` until then (CLOCK_MONOTONIC). False: `end_fd` can be read.
  bool ServeUntil(int64_t monotonic_ns, int end_fd, const std::string& metrics);

 private:
  struct Client {
    int fd;
    int64_t deadline_ns;
    std::string head = {};    // of the request, so far
    std::string answer = {};  // what is left to send, once the head is whole
  };

  explicit MetricsServer(int fd) : fd_(fd) {}
  // False with errno: the port is another's.
  bool Take(uint16_t port);
  void Accept();
  void DropLate();
  // False: the client is done with.
  static bool Advance(Client& client, const std::string& metrics);

  std::vector<Client> clients_;  // the oldest first
  int fd_ = -1;
  // Of the port at ::1, which "localhost" may mean first, where any user could listen.
  int held_fd_ = -1;
  uint16_t port_ = 0;
};

// The whole answer to a request's head. Host must name this machine's loopback: any page in a
// browser can have its name point here.
std::string MetricsAnswer(const std::string& head, const std::string& metrics);

}  // namespace batchlight::capture
