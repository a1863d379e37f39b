#include "capture/monitor/monitor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/contain.h"
#include "base/file.h"
#include "capture/loop/clock.h"
#include "capture/monitor/metrics.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kLookEveryNs = 1'000'000'000;

}  // namespace

Monitor::Monitor(MonitorOptions options, std::string version, RunFolder folder, BoardFile file,
                 std::function<uint32_t()> windows)
    : options_(std::move(options)),
      version_(std::move(version)),
      folder_(std::move(folder)),
      file_(std::move(file)),
      windows_(std::move(windows)),
      start_ns_(ClockNow(CLOCK_REALTIME)),
      slow_steps_(options_.slow_factor) {}

Monitor::~Monitor() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    (void)!write(over_fd_, &one, sizeof one);
    thread_.join();
  }
  if (over_fd_ >= 0) close(over_fd_);
  folder_.RemoveStatus();
  // A file that stays would say for ever that the job stands still.
  if (!options_.metrics_file.empty()) unlink(options_.metrics_file.c_str());
}

Status Monitor::Start() {
  over_fd_ = eventfd(0, EFD_CLOEXEC);
  if (over_fd_ < 0) return OutputError(std::string("eventfd: ") + std::strerror(errno));
  return Contain("watching the steps (see `ulimit -u`)", [this] {
    thread_ = std::thread([this] { Run(); });
    return Status();
  });
}

void Monitor::Run() {
  do {
    Look();
  } while (WaitUntil(MonotonicNow() + kLookEveryNs));
}

bool Monitor::WaitUntil(int64_t monotonic_ns) {
  if (server_) return server_->ServeUntil(monotonic_ns, over_fd_, metrics_);
  for (;;) {
    const int64_t left_ns = monotonic_ns - MonotonicNow();
    if (left_ns <= 0) return true;
    pollfd over{over_fd_, POLLIN, 0};
    constexpr int64_t kNsPerMs = 1'000'000;
    if (poll(&over, 1, static_cast<int>(left_ns / kNsPerMs) + 1) > 0) return false;
  }
}

// A file that cannot be written this time may be the next.
void Monitor::Look() {
  reader_.Read();
  const int64_t now_ns = ClockNow(CLOCK_REALTIME);
  RunStatus status{.realtime_ns = now_ns, .start_ns = start_ns_};
  for (const ProcessSteps* process : reader_.Processes()) {
    if (process->step <= status.step) continue;
    status.step = process->step;
    status.step_ns = process->Quantile(0.5);
  }
  (void)folder_.WriteStatus(status);
  AskIfSlow();
  file_.board().request.store(format::PackRequest(folder_.ReadRequest(start_ns_)),
                              std::memory_order_relaxed);
  if (options_.metrics_file.empty() && !server_) return;
  const MetricsInput input{.processes = reader_.Processes(),
                           .version = version_,
                           .windows = windows_(),
                           .monotonic_to_unix_ns = now_ns - MonotonicNow()};
  metrics_ = MetricsText(input);
  if (!options_.metrics_file.empty()) (void)WriteWholeFile(options_.metrics_file, metrics_);
}

void Monitor::AskIfSlow() {
  for (const ProcessSteps* process : reader_.Processes()) {
    const auto request = slow_steps_.Look(*process, MonotonicNow());
    if (!request) continue;
    const format::StepRequest known = folder_.ReadRequest(start_ns_);
    const bool is_ahead = known.count != 0 && known.first + known.count > process->step;
    // Else somebody else was faster.
    if (!is_ahead) (void)folder_.WriteRequest(*request, ClockNow(CLOCK_REALTIME));
    return;
  }
}

}  // namespace batchlight::capture
