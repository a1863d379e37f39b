#include "capture/monitor/metrics_server.h"

#include <gtest/gtest.h>

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

TEST(MetricsServerTest, APortThatIsTakenIsAnError) {
  const auto one = MetricsServer::Listen(0);
  ASSERT_TRUE(one.ok());
  EXPECT_NE(one->port(), 0);
  EXPECT_FALSE(MetricsServer::Listen(one->port()).ok());
}

}  // namespace
}  // namespace batchlight::capture
