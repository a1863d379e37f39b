// The metrics of a monitored job as a collector of OpenTelemetry takes them: OTLP over HTTP, JSON
// (`--metrics-otlp`). One POST each ten seconds, to this machine or an address; there is no TLS and
// no name is looked up.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "capture/monitor/metric_points.h"

namespace batchlight::capture {

// The body of a request: ExportMetricsServiceRequest of OTLP 1. `service`: what the job is called.
std::string OtlpJson(std::span<const Metric> metrics, const std::string& service,
                     const std::string& host, int64_t start_unix_ns, int64_t now_unix_ns);

class OtlpSender {
 public:
  // "http://127.0.0.1:4318", with or without /v1/metrics. Errors (kUsage): no such address.
  static Result<OtlpSender> To(const std::string& url);

  // Errors (kOutput): nobody takes it, or says so within a second; `end_fd` can be read.
  Status Send(const std::string& body, int end_fd) const;
  const std::string& url() const { return url_; }

 private:
  OtlpSender() = default;

  std::string url_;
  std::string host_;  // as in the address
  std::string path_;
  uint32_t address_ = 0;  // of the network's order
  uint16_t port_ = 0;
};

}  // namespace batchlight::capture
