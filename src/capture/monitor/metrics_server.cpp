#include "capture/monitor/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr size_t kMostHeadBytes = 8192;
constexpr size_t kMostClients = 64;
constexpr int64_t kAnswerNs = 1'000'000'000;

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
  constexpr int kMostTries = 64;
  for (int tries = 1;; ++tries) {
    MetricsServer server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (server.fd_ >= 0 && server.Take(port)) return server;
    if (port != 0 || errno != EADDRINUSE || tries == kMostTries) break;
  }
  return OutputError("no metrics on port " + std::to_string(port) + ": " + std::strerror(errno));
}

bool MetricsServer::Take(uint16_t port) {
  const int yes = 1;
  setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd_, any, bytes) != 0 || getsockname(fd_, any, &bytes) != 0) return false;
  port_ = ntohs(address.sin_port);
  sockaddr_in6 other{};
  other.sin6_family = AF_INET6;
  other.sin6_port = address.sin_port;
  other.sin6_addr = in6addr_loopback;
  held_fd_ = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);  // -1: there is no IPv6
  const bool held = bind(held_fd_, reinterpret_cast<sockaddr*>(&other), sizeof other) == 0;
  return (held || errno != EADDRINUSE) && listen(fd_, SOMAXCONN) == 0;
}

MetricsServer::MetricsServer(MetricsServer&& other) noexcept
    : clients_(std::exchange(other.clients_, {})),
      fd_(std::exchange(other.fd_, -1)),
      held_fd_(std::exchange(other.held_fd_, -1)),
      port_(other.port_) {}

MetricsServer::~MetricsServer() {
  const int error = errno;
  for (const Client& client : clients_) close(client.fd);
  if (fd_ >= 0) close(fd_);
  if (held_fd_ >= 0) close(held_fd_);
  errno = error;
}

bool MetricsServer::ServeUntil(int64_t monotonic_ns, int end_fd, const std::string& metrics) {
  for (;;) {
    DropLate();
    int64_t wake_ns = std::min(monotonic_ns, MonotonicNow() + kAnswerNs);
    std::vector<pollfd> waited = {{end_fd, POLLIN, 0}, {fd_, POLLIN, 0}};
    for (const Client& client : clients_) {
      const short event = client.answer.empty() ? POLLIN : POLLOUT;
      waited.push_back({client.fd, event, 0});
      wake_ns = std::min(wake_ns, client.deadline_ns);
    }
    const int64_t now_ns = MonotonicNow();
    if (now_ns >= monotonic_ns) return true;
    constexpr int64_t kNsPerMs = 1'000'000;
    const int64_t wait_ms = std::max<int64_t>(wake_ns - now_ns, 0) / kNsPerMs + 1;
    if (poll(waited.data(), waited.size(), static_cast<int>(wait_ms)) <= 0) continue;
    if (waited[0].revents != 0) return false;
    for (size_t i = clients_.size(); i-- > 0;) {
      if (waited[i + 2].revents == 0 || Advance(clients_[i], metrics)) continue;
      close(clients_[i].fd);
      clients_.erase(clients_.begin() + static_cast<ptrdiff_t>(i));
    }
    if (waited[1].revents != 0) Accept();
  }
}

void MetricsServer::Accept() {
  const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) {  // out of descriptors: at once it would fail again
    constexpr int kPauseMs = 100;
    if (errno != EAGAIN) poll(nullptr, 0, kPauseMs);
    return;
  }
  clients_.push_back({client, MonotonicNow() + kAnswerNs});
  if (clients_.size() <= kMostClients) return;
  close(clients_.front().fd);
  clients_.erase(clients_.begin());
}

void MetricsServer::DropLate() {
  const int64_t now_ns = MonotonicNow();
  while (!clients_.empty() && clients_.front().deadline_ns <= now_ns) {
    close(clients_.front().fd);
    clients_.erase(clients_.begin());
  }
}

bool MetricsServer::Advance(Client& client, const std::string& metrics) {
  if (client.answer.empty()) {
    char piece[1024];
    const ssize_t got = recv(client.fd, piece, sizeof piece, MSG_DONTWAIT);
    if (got <= 0) return false;
    client.head.append(piece, static_cast<size_t>(got));
    if (client.head.find("\r\n\r\n") == std::string::npos) {
      return client.head.size() < kMostHeadBytes;
    }
    client.answer = MetricsAnswer(client.head, metrics);
  }
  const ssize_t sent =
      send(client.fd, client.answer.data(), client.answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno == EAGAIN;
  client.answer.erase(0, static_cast<size_t>(sent));
  return !client.answer.empty();
}

}  // namespace batchlight::capture
