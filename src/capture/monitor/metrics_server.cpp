#include "capture/monitor/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr size_t kMostHeadBytes = 8192;
constexpr int64_t kAnswerNs = 1'000'000'000;

// False at the deadline.
bool WaitFor(int fd, short events, int64_t deadline_ns) {
  pollfd waited{fd, events, 0};
  const int64_t left_ns = deadline_ns - MonotonicNow();
  constexpr int64_t kNsPerMs = 1'000'000;
  return left_ns > 0 && poll(&waited, 1, static_cast<int>(left_ns / kNsPerMs) + 1) > 0;
}

// Up to the empty line that ends it; "" if it does not come whole.
std::string ReadHead(int fd, int64_t deadline_ns) {
  std::string head;
  while (head.size() < kMostHeadBytes && WaitFor(fd, POLLIN, deadline_ns)) {
    char piece[1024];
    const ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
    if (got <= 0) return {};
    head.append(piece, static_cast<size_t>(got));
    if (head.find("\r\n\r\n") != std::string::npos) return head;
  }
  return {};
}

void Send(int fd, std::string_view bytes, int64_t deadline_ns) {
  while (!bytes.empty() && WaitFor(fd, POLLOUT, deadline_ns)) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

// Of the header Host, without the port; "" if there is none.
std::string HostIn(const std::string& head) {
  constexpr std::string_view kHost = "host:";
  for (size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at)) {
    at += 2;
    if (strncasecmp(head.c_str() + at, kHost.data(), kHost.size()) != 0) continue;
    const size_t begin = head.find_first_not_of(' ', at + kHost.size());
    const size_t end = head.find_first_of(":\r", begin);
    return begin < end ? head.substr(begin, end - begin) : std::string();
  }
  return {};
}

}  // namespace

std::string MetricsAnswer(const std::string& head, const std::string& metrics) {
  const std::string host = HostIn(head);
  const bool is_here = host == "127.0.0.1" || host == "localhost";
  const bool is_get = head.starts_with("GET ");
  const std::string path = head.substr(0, head.find_first_of(" ?\r", 4));
  const char* const status = !is_here                 ? "403 Forbidden"
                             : !is_get                ? "405 Method Not Allowed"
                             : path != "GET /metrics" ? "404 Not Found"
                                                      : "200 OK";
  const bool is_fine = std::strcmp(status, "200 OK") == 0;
  const std::string body = is_fine ? metrics : std::string(status) + ": GET /metrics\n";
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: text/plain; version=0.0.4" +
         (is_get ? "" : "\r\nAllow: GET") +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

Result<MetricsServer> MetricsServer::Listen(uint16_t port) {
  const auto failed = [&] {
    return OutputError("no metrics on port " + std::to_string(port) + ": " + std::strerror(errno));
  };
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return failed();
  MetricsServer server(fd, port);
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, any, bytes) != 0 || listen(fd, 16) != 0 || getsockname(fd, any, &bytes) != 0) {
    return failed();
  }
  server.port_ = ntohs(address.sin_port);
  return server;
}

MetricsServer::MetricsServer(MetricsServer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}

MetricsServer::~MetricsServer() {
  if (fd_ >= 0) close(fd_);
}

void MetricsServer::Answer(const std::string& metrics) const {
  const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) {  // out of descriptors: at once it would fail again
    constexpr int kPauseMs = 100;
    if (errno != EAGAIN) poll(nullptr, 0, kPauseMs);
    return;
  }
  const int64_t deadline_ns = MonotonicNow() + kAnswerNs;
  const std::string head = ReadHead(client, deadline_ns);
  if (!head.empty()) Send(client, MetricsAnswer(head, metrics), deadline_ns);
  close(client);
}

}  // namespace batchlight::capture
