#include "capture/monitor/otlp.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace batchlight::capture {
namespace {

std::vector<Metric> SampleMetrics(const ProcessSteps& process) {
  return MetricsOf({.processes = {&process}, .version = "1.2", .windows = 1});
}

TEST(OtlpTest, IsARequestOfMetrics) {
  ProcessSteps process;
  process.pid = 42;
  process.rank = 3;
  process.step = 3;
  process.timed_steps = 2;
  process.total_ns = 300'000'000;
  process.recent_ns = {100'000'000, 200'000'000};
  process.phase_us[0] = 1500;
  const std::string body = OtlpJson(SampleMetrics(process), "my \"job\"\n", "node7", 5, 9);
  const auto json = nlohmann::json::parse(body);
  const auto& of_job = json["resourceMetrics"][0];
  EXPECT_EQ(of_job["resource"]["attributes"][0]["key"], "service.name");
  EXPECT_EQ(of_job["resource"]["attributes"][0]["value"]["stringValue"], "my \"job\"\n");
  std::map<std::string, nlohmann::json> metrics;
  for (const auto& metric : of_job["scopeMetrics"][0]["metrics"]) metrics[metric["name"]] = metric;
  EXPECT_EQ(metrics.size(), 7u);
  const auto& step = metrics["batchlight_step"]["gauge"]["dataPoints"][0];
  EXPECT_EQ(step["asDouble"], 3.0);
  EXPECT_EQ(step["timeUnixNano"], "9");
  EXPECT_EQ(step["attributes"][0]["value"]["stringValue"], "3");
  const auto& phases = metrics["batchlight_step_phase_seconds_total"]["sum"];
  EXPECT_EQ(phases["aggregationTemporality"], 2);
  EXPECT_EQ(phases["isMonotonic"], true);
  EXPECT_EQ(phases["dataPoints"][0]["asDouble"], 0.0015);
  EXPECT_EQ(phases["dataPoints"][0]["startTimeUnixNano"], "5");
  const auto& lengths = metrics["batchlight_step_duration_seconds"]["summary"]["dataPoints"][0];
  EXPECT_EQ(lengths["count"], "2");
  EXPECT_EQ(lengths["sum"], 0.3);
  EXPECT_EQ(lengths["quantileValues"][0]["quantile"], 0.5);
  EXPECT_EQ(lengths["quantileValues"][0]["value"], 0.1);
}

TEST(OtlpTest, AddressesAreNumbers) {
  for (const char* url : {"http://127.0.0.1:4318", "http://localhost",
                          "http://10.0.0.7:80/v1/metrics", "http://127.0.0.1/"}) {
    EXPECT_TRUE(OtlpSender::To(url).ok()) << url;
  }
  EXPECT_EQ(OtlpSender::To("http://localhost").value().url(), "http://localhost/v1/metrics");
  EXPECT_EQ(OtlpSender::To("http://1.2.3.4:5/x").value().url(), "http://1.2.3.4:5/x");
  for (const char* url : {"", "127.0.0.1:4318", "https://127.0.0.1:4318", "http://collector:4318",
                          "http://127.0.0.1:", "http://127.0.0.1:0", "http://127.0.0.1:70000",
                          "http://127.0.0.1:4318/a b", "http://127.0.0.1:1/\r\nX: y"}) {
    EXPECT_EQ(OtlpSender::To(url).status().kind(), ErrorKind::kUsage) << url;
  }
}

// Has a free port of this machine, and listens there or refuses who comes.
class Listener {
 public:
  explicit Listener(bool listens = true) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_, any, size), 0);
    if (listens) {
      EXPECT_EQ(listen(fd_, 1), 0);
    }
    getsockname(fd_, any, &size);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(fd_); }

  // Takes one request and gives what it is told to.
  std::string Answer(const std::string& answer) const {
    const int client = accept(fd_, nullptr, nullptr);
    std::string request;
    char bytes[4096];
    while (request.find("\r\n\r\n") == std::string::npos || !request.ends_with("end")) {
      const ssize_t count = recv(client, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      request.append(bytes, static_cast<size_t>(count));
    }
    (void)!send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    close(client);
    return request;
  }
  OtlpSender Sender() const {
    return OtlpSender::To("http://127.0.0.1:" + std::to_string(port_)).value();
  }

 private:
  int fd_;
  uint16_t port_ = 0;
};

TEST(OtlpTest, IsPosted) {
  const Listener listener;
  for (const auto& [answer, taken] : {std::pair("HTTP/1.1 200 OK\r\n\r\n{}", true),
                                      {"HTTP/1.0 204 No Content\r\n\r\n", true},
                                      {"HTTP/1.1 400 Bad Request\r\n\r\n", false},
                                      {"HTTP/1.1 500 No\n\nFiles\n  forged\r\n", false},
                                      {"", false}}) {
    std::string request;
    std::thread collector([&, answer = answer] { request = listener.Answer(answer); });
    const Status sent = listener.Sender().Send("a body that has an end", -1);
    collector.join();
    EXPECT_EQ(sent.ok(), taken) << answer << sent.message();
    EXPECT_EQ(sent.message().find('\n'), std::string::npos) << "a line of the collector's";
    EXPECT_TRUE(request.starts_with("POST /v1/metrics HTTP/1.1\r\nHost: 127.0.0.1:")) << request;
    EXPECT_NE(request.find("\r\nContent-Length: 22\r\n"), std::string::npos) << request;
  }
}

// The message is a line of a terminal's: what is no answer of HTTP's is not repeated, and of one no
// more than is of use.
TEST(OtlpTest, OfAnAnswerLittleIsSaid) {
  const Listener listener;
  const std::string words = "HTTP/1.1 500 " + std::string(100, 'x');
  for (const auto& [answer, said] :
       {std::pair(std::string(400, '\xff') + "\n", std::string("it answers, but not in HTTP")),
        {std::string(400, '\0'), "it answers, but not in HTTP"},
        {"SSH-2.0-OpenSSH_9.2\r\n", "it answers, but not in HTTP"},
        {"HTTP/1.1 500 No" + std::string(300, '\x9b') + "\r\n", "HTTP/1.1 500 No"},
        {"HTTP/1.1 500 \x1b[2J\r\n", "HTTP/1.1 500 "},
        {words + std::string(900, 'y') + "\r\n", words.substr(0, 80)}}) {
    std::thread collector([&, answer = answer] { listener.Answer(answer); });
    const OtlpSender sender = listener.Sender();
    const Status sent = sender.Send("a body that has an end", -1);
    collector.join();
    EXPECT_EQ(sent.message(), "metrics are not taken at " + sender.url() + ": " + said);
  }
}

TEST(OtlpTest, NobodyTakesIt) {
  const Listener nobody(false);
  const OtlpSender sender = nobody.Sender();
  const Status sent = sender.Send("end", -1);
  EXPECT_EQ(sent.kind(), ErrorKind::kOutput);
  EXPECT_NE(sent.message().find("metrics are not taken at " + sender.url()), std::string::npos);
}

}  // namespace
}  // namespace batchlight::capture
