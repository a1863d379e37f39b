#include "capture/monitor/metrics_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace batchlight::capture {
namespace {

TEST(MetricsServerTest, AnswersWhoAsksForMetrics) {
  const std::string good =
      MetricsAnswer("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n", "a 1\n");
  EXPECT_TRUE(good.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(good.ends_with("Content-Length: 4\r\n\r\na 1\n"));
  const auto starts = [](const char* head, const char* status) {
    return MetricsAnswer(head, "a 1\n").starts_with(std::string("HTTP/1.1 ") + status);
  };
  EXPECT_TRUE(starts("GET /metrics?x=1 HTTP/1.1\r\nx: y\r\nhOST: localhost\r\n\r\n", "200"));
  EXPECT_TRUE(starts("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"));
  EXPECT_TRUE(starts("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"));
  EXPECT_TRUE(starts("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"));
  EXPECT_TRUE(starts("GET /metrics HTTP/1.1\r\n\r\n", "403"));
  EXPECT_TRUE(starts("\r\n\r\n", "403"));
  EXPECT_TRUE(starts("GET\r\nHost:\r\n\r\n", "403"));
}

// A connection to it that has sent `text`.
int Connect(const MetricsServer& server, std::string_view text) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(send(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  return fd;
}

// Who scrapes "localhost" may ask there first.
TEST(MetricsServerTest, HoldsItsPortAtBothLoopbackAddresses) {
  const auto server = MetricsServer::Listen(0);
  ASSERT_TRUE(server.ok());
  const auto binds = [](uint16_t port) {
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (fd >= 0) close(fd);
    return bound;
  };
  if (!binds(0)) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_FALSE(binds(server->port()));
}

// None of those who send half a request, nothing, or too much holds up the one that asks.
TEST(MetricsServerTest, WhoIsSlowHoldsUpNobody) {
  auto server = MetricsServer::Listen(0);
  ASSERT_TRUE(server.ok());
  const int over = eventfd(0, 0);
  const std::string metrics(1 << 20, 'm');  // more than a socket takes at once
  std::thread thread([&] { EXPECT_FALSE(server->ServeUntil(INT64_MAX, over, metrics)); });
  std::vector<int> slow;
  for (int i = 0; i < 100; ++i) slow.push_back(Connect(server.value(), i % 2 == 0 ? "GET" : ""));
  slow.push_back(Connect(server.value(), std::string(9000, 'x')));
  const auto before = std::chrono::steady_clock::now();
  std::string got;
  const int fd = Connect(server.value(), "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  char piece[4096];
  for (ssize_t bytes; (bytes = recv(fd, piece, sizeof piece, 0)) > 0;) {
    got.append(piece, static_cast<size_t>(bytes));
  }
  EXPECT_TRUE(got.ends_with(metrics));
  // One after the other, with a second each, they would take at least a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
  for (const int one : slow) EXPECT_LE(recv(one, piece, sizeof piece, 0), 0) << "closed";
  const uint64_t one = 1;
  EXPECT_EQ(write(over, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  thread.join();
  for (const int open : slow) close(open);
  close(fd);
  close(over);
}

TEST(MetricsServerTest, APortThatIsTakenIsAnError) {
  const auto one = MetricsServer::Listen(0);
  ASSERT_TRUE(one.ok());
  EXPECT_NE(one->port(), 0);
  EXPECT_FALSE(MetricsServer::Listen(one->port()).ok());
}

}  // namespace
}  // namespace batchlight::capture
