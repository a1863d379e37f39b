#include "capture/monitor/monitor.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/contain.h"
#include "base/file.h"
#include "capture/loop/clock.h"
#include "capture/monitor/metrics.h"

namespace batchlight::capture {

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
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
  folder_.RemoveStatus();
  // A file that stays would say for ever that the job stands still.
  if (!options_.metrics_file.empty()) unlink(options_.metrics_file.c_str());
}

Status Monitor::Start() {
  return Contain("watching the steps (see `ulimit -u`)", [this] {
    thread_ = std::thread([this] { Run(); });
    return Status();
  });
}

void Monitor::Run() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    lock.unlock();
    Look();
    lock.lock();
    changed_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; });
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
  if (options_.metrics_file.empty()) return;
  const MetricsInput input{.processes = reader_.Processes(),
                           .version = version_,
                           .windows = windows_(),
                           .monotonic_to_unix_ns = now_ns - MonotonicNow()};
  (void)WriteWholeFile(options_.metrics_file, MetricsText(input));
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
