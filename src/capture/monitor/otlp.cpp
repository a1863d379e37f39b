#include "capture/monitor/otlp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/json_text.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kSendNs = 1'000'000'000;
constexpr int64_t kNsPerMs = 1'000'000;
constexpr uint16_t kUsualPort = 4318;
constexpr size_t kMostSaid = 80;
constexpr std::string_view kScheme = "http://";
constexpr std::string_view kUsualPath = "/v1/metrics";

std::string Quoted(std::string_view text) {
  std::string json = "\"";
  AppendJsonEscaped(text, json);
  return json + "\"";
}

std::string Attribute(const std::string& key, const std::string& value) {
  return "{\"key\":" + Quoted(key) + ",\"value\":{\"stringValue\":" + Quoted(value) + "}}";
}

std::string Attributes(const MetricLabels& labels) {
  std::string json = "\"attributes\":[";
  for (const auto& label : labels) {
    json += (json.back() == '[' ? "" : ",") + Attribute(label.first, label.second);
  }
  return json + "]";
}

std::string PointJson(const Metric& metric, const MetricPoint& point, const std::string& times) {
  std::string json = "{" + Attributes(point.labels) + "," + times;
  if (metric.type != MetricType::kSummary) return json + ",\"asDouble\":" + point.value + "}";
  json += ",\"count\":\"" + point.count + "\",\"sum\":" + point.value + ",\"quantileValues\":[";
  for (const auto& [quantile, value] : point.quantiles) {
    json += std::string(json.back() == '[' ? "" : ",") + "{\"quantile\":" + quantile +
            ",\"value\":" + value + "}";
  }
  return json + "]}";
}

const char* KindName(MetricType type) {
  if (type == MetricType::kGauge) return "gauge";
  return type == MetricType::kCounter ? "sum" : "summary";
}

// What is left of the time; the descriptor is ready for `event`. False with errno.
bool Await(int fd, short event, int end_fd, int64_t until_ns) {
  for (;;) {
    const int64_t left_ns = until_ns - MonotonicNow();
    errno = ETIMEDOUT;
    if (left_ns <= 0) return false;
    pollfd waited[] = {{fd, event, 0}, {end_fd, POLLIN, 0}};
    const int ready = poll(waited, end_fd < 0 ? 1 : 2, static_cast<int>(left_ns / kNsPerMs) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    errno = ECANCELED;
    if (end_fd >= 0 && waited[1].revents != 0) return false;
    if (waited[0].revents != 0) return true;
  }
}

// The first line of the answer; "" with errno.
std::string Exchange(int fd, const sockaddr_in& to, std::string_view request, int end_fd) {
  const int64_t until_ns = MonotonicNow() + kSendNs;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    if (errno != EINPROGRESS || !Await(fd, POLLOUT, end_fd, until_ns)) return "";
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    if (error != 0) return "";
  }
  while (!request.empty()) {
    if (!Await(fd, POLLOUT, end_fd, until_ns)) return "";
    const ssize_t sent = send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return "";
    if (sent > 0) request.remove_prefix(static_cast<size_t>(sent));
  }
  std::string answer;
  while (answer.find_first_of("\r\n") == std::string::npos && answer.size() < 200) {
    char bytes[200];
    if (!Await(fd, POLLIN, end_fd, until_ns)) return "";
    const ssize_t count = recv(fd, bytes, sizeof bytes, 0);
    errno = count == 0 ? ECONNRESET : errno;
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return "";
    if (count > 0) answer.append(bytes, static_cast<size_t>(count));
  }
  return answer.substr(0, answer.find_first_of("\r\n"));
}

// What a message repeats of an answer that is not empty: "HTTP/1.1 500 Internal Server Error".
std::string SaidOf(std::string_view answer) {
  if (!answer.starts_with("HTTP/")) return "it answers, but not in HTTP";
  const auto end = std::find_if(answer.begin(), answer.end(),
                                [](char byte) { return byte < ' ' || byte > '~'; });
  const auto letters = static_cast<size_t>(end - answer.begin());
  return std::string(answer.substr(0, std::min(letters, kMostSaid)));
}

}  // namespace

std::string OtlpJson(std::span<const Metric> metrics, const std::string& service,
                     const std::string& host, int64_t start_unix_ns, int64_t now_unix_ns) {
  const std::string now = "\"timeUnixNano\":\"" + std::to_string(now_unix_ns) + "\"";
  const std::string since =
      "\"startTimeUnixNano\":\"" + std::to_string(start_unix_ns) + "\"," + now;
  std::string json = "{\"resourceMetrics\":[{\"resource\":{" +
                     Attributes({{"service.name", service}, {"host.name", host}}) +
                     "},\"scopeMetrics\":[{\"scope\":{\"name\":\"batchlight\"},\"metrics\":[";
  bool first = true;
  for (const Metric& metric : metrics) {
    if (metric.points.empty()) continue;
    const bool counts = metric.type == MetricType::kCounter;
    const bool seconds = std::string_view(metric.name).find("_seconds") != std::string_view::npos;
    json += std::string(first ? "" : ",") + "{\"name\":" + Quoted(metric.name) +
            ",\"description\":" + Quoted(metric.help) + ",\"unit\":\"" + (seconds ? "s" : "1") +
            "\",\"" + KindName(metric.type) + "\":{" +
            (counts ? "\"aggregationTemporality\":2,\"isMonotonic\":true," : "") +
            "\"dataPoints\":[";
    first = false;
    for (const MetricPoint& point : metric.points) {
      json += (json.back() == '[' ? "" : ",") +
              PointJson(metric, point, metric.type == MetricType::kGauge ? now : since);
    }
    json += "]}}";
  }
  return json + "]}]}]}";
}

Result<OtlpSender> OtlpSender::To(const std::string& url) {
  const auto wrong = [&](const char* why) {
    return UsageError("--metrics-otlp: " + url + ": " + why +
                      "; give such as http://127.0.0.1:4318");
  };
  if (!url.starts_with(kScheme)) return wrong("only http is spoken, without TLS");
  OtlpSender sender;
  const std::string rest = url.substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  const size_t colon = std::min(rest.find(':'), slash);
  sender.path_ = rest.substr(slash);
  if (sender.path_.empty() || sender.path_ == "/") sender.path_ = kUsualPath;
  if (sender.path_.find_first_of(" \t\r\n") != std::string::npos)
    return wrong("no path has spaces");
  std::string host = rest.substr(0, colon);
  sender.host_ = rest.substr(0, slash);
  if (host == "localhost") host = "127.0.0.1";
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) != 1) return wrong("no name is looked up");
  sender.address_ = address.s_addr;
  sender.port_ = kUsualPort;
  if (colon < slash) {
    const auto [stop, error] =
        std::from_chars(rest.data() + colon + 1, rest.data() + slash, sender.port_);
    if (error != std::errc() || stop != rest.data() + slash || sender.port_ == 0) {
      return wrong("no port from 1 to 65535");
    }
  }
  sender.url_ = std::string(kScheme) + sender.host_ + sender.path_;
  return sender;
}

Status OtlpSender::Send(const std::string& body, int end_fd) const {
  const auto failed = [&](const std::string& why) {
    return OutputError("metrics are not taken at " + url_ + ": " + why);
  };
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return failed(std::strerror(errno));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = address_;
  const std::string request = "POST " + path_ + " HTTP/1.1\r\nHost: " + host_ +
                              "\r\nContent-Type: application/json\r\nConnection: close\r\n"
                              "Content-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  const std::string answer = Exchange(fd, to, request, end_fd);
  const std::string why = answer.empty() ? std::strerror(errno) : SaidOf(answer);
  close(fd);
  // "HTTP/1.1 200 OK"
  const bool taken = answer.starts_with("HTTP/1.") && answer.substr(8, 2) == " 2";
  return taken ? Status() : failed(why);
}

}  // namespace batchlight::capture
