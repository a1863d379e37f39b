#include "capture/monitor/monitor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/contain.h"
#include "capture/loop/clock.h"
#include "capture/monitor/metrics.h"
#include "capture/monitor/slow_steps.h"
#include "capture/monitor/step_reader.h"
#include "capture/recording/output_name.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kLookEveryNs = 1'000'000'000;
constexpr int64_t kSendEveryNs = 10'000'000'000;
// For a file system that hangs, when the program has ended.
constexpr int64_t kMostWaitNs = 5'000'000'000;

}  // namespace

// All that the thread uses. Where a file system hangs it outlives the monitor.
class Monitor::Watcher {
 public:
  Watcher(MonitorOptions options, std::string version, RunFolder folder, BoardFile file,
          std::function<uint32_t()> windows)
      : options_(std::move(options)),
        version_(std::move(version)),
        folder_(std::move(folder)),
        file_(std::move(file)),
        windows_(std::move(windows)),
        start_ns_(ClockNow(CLOCK_REALTIME)),
        slow_steps_(options_.slow_factor) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() {
    if (over_fd_ >= 0) close(over_fd_);
  }

  void Serve(MetricsServer server) { server_.emplace(std::move(server)); }
  void Write(MetricsFile file) { metrics_file_.emplace(std::move(file)); }
  void Send(OtlpSender sender, std::string service, std::function<void(const std::string&)> say) {
    otlp_.emplace(std::move(sender));
    service_ = std::move(service);
    say_ = std::move(say);
  }
  Status Prepare() {
    over_fd_ = eventfd(0, EFD_CLOEXEC);
    return over_fd_ >= 0 ? Status() : OutputError(std::string("eventfd: ") + std::strerror(errno));
  }
  void Run();
  // Makes Run() return. False: it does not, for `most_ns`.
  bool End(int64_t most_ns);

 private:
  void Look();
  // Answers requests until then. False: End() was called.
  bool WaitUntil(int64_t monotonic_ns);
  void AskIfSlow();
  // To the collector, if it is time again.
  void SendMetrics(std::span<const Metric> metrics, int64_t now_ns);
  // One that does not answer holds up neither a look nor a scrape: it has a thread of its own.
  std::thread StartSending();
  void SendWhatComes();
  void TrySending(const std::string& body);
  MetricsInput InputAt(int64_t now_ns);
  std::string BodyOf(std::span<const Metric> metrics, int64_t now_ns) const {
    return OtlpJson(metrics, service_, HostName(), start_ns_, now_ns);
  }

  const MonitorOptions options_;
  const std::string version_;  // of batchlight
  const RunFolder folder_;
  BoardFile file_;
  const std::function<uint32_t()> windows_;
  const int64_t start_ns_;  // CLOCK_REALTIME
  StepReader reader_{file_.board()};
  SlowSteps slow_steps_;
  std::optional<MetricsServer> server_;
  std::optional<MetricsFile> metrics_file_;
  std::optional<OtlpSender> otlp_;
  std::string service_;  // what the collector calls the job
  std::function<void(const std::string&)> say_;
  int64_t next_send_ns_ = 0;  // CLOCK_MONOTONIC
  uint32_t windows_seen_ = 0;
  std::string metrics_;  // as last looked at

  int over_fd_ = -1;  // eventfd: End() was called
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;       // End() was called: whom windows_ asks may be gone
  bool has_ended_ = false;  // Run() has returned
  // Of the thread that sends:
  std::string body_;  // what to send next; "": nothing
  std::condition_variable to_send_;
  bool has_sender_ = false;
  bool said_ = false;  // that metrics are not taken
};

Monitor::Monitor(MonitorOptions options, std::string version, RunFolder folder, BoardFile file,
                 std::function<uint32_t()> windows)
    : watcher_(std::make_shared<Watcher>(std::move(options), std::move(version), std::move(folder),
                                         std::move(file), std::move(windows))) {}

void Monitor::Serve(MetricsServer server) { watcher_->Serve(std::move(server)); }

void Monitor::Write(MetricsFile file) { watcher_->Write(std::move(file)); }

void Monitor::Send(OtlpSender sender, std::string service,
                   std::function<void(const std::string&)> say) {
  watcher_->Send(std::move(sender), std::move(service), std::move(say));
}

Status Monitor::Start() {
  RETURN_IF_ERROR(watcher_->Prepare());
  return Contain("watching the steps (see `ulimit -u`)", [this] {
    thread_ = std::thread([watcher = watcher_] { watcher->Run(); });
    return Status();
  });
}

bool Monitor::End() {
  if (!thread_.joinable()) return true;
  const bool ended = watcher_->End(kMostWaitNs);
  ended ? thread_.join() : thread_.detach();
  return ended;
}

bool Monitor::Watcher::End(int64_t most_ns) {
  std::unique_lock lock(mutex_);
  over_ = true;  // before it wakes: what is broken off then is no failure
  to_send_.notify_one();
  const uint64_t one = 1;
  (void)!write(over_fd_, &one, sizeof one);
  return changed_.wait_for(lock, std::chrono::nanoseconds(most_ns), [this] { return has_ended_; });
}

void Monitor::Watcher::Run() {
  std::thread sender = StartSending();
  do {
    Look();
  } while (WaitUntil(MonotonicNow() + kLookEveryNs));
  if (sender.joinable()) sender.join();
  folder_.RemoveStatus();
  reader_.Read();
  if (otlp_ && !reader_.Processes().empty()) {  // how the job ended
    const int64_t now_ns = ClockNow(CLOCK_REALTIME);
    (void)otlp_->Send(BodyOf(MetricsOf(InputAt(now_ns)), now_ns), -1);
  }
  // A file that stays would say for ever that the job stands still.
  if (metrics_file_) metrics_file_->Remove();
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_one();
}

bool Monitor::Watcher::WaitUntil(int64_t monotonic_ns) {
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
void Monitor::Watcher::Look() {
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
  if (!metrics_file_ && !server_ && !otlp_) return;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    windows_seen_ = windows_();
  }
  const std::vector<Metric> metrics = MetricsOf(InputAt(now_ns));
  metrics_ = MetricsText(metrics);
  if (metrics_file_) (void)metrics_file_->Write(metrics_);
  SendMetrics(metrics, now_ns);
}

MetricsInput Monitor::Watcher::InputAt(int64_t now_ns) {
  return {.processes = reader_.Processes(),
          .version = version_,
          .windows = windows_seen_,
          .monotonic_to_unix_ns = now_ns - MonotonicNow()};
}

void Monitor::Watcher::SendMetrics(std::span<const Metric> metrics, int64_t now_ns) {
  if (!otlp_ || reader_.Processes().empty() || MonotonicNow() < next_send_ns_) return;
  next_send_ns_ = MonotonicNow() + kSendEveryNs;
  std::string body = BodyOf(metrics, now_ns);
  if (!has_sender_) return TrySending(body);
  const std::lock_guard lock(mutex_);
  body_ = std::move(body);
  to_send_.notify_one();
}

std::thread Monitor::Watcher::StartSending() {
  std::thread sender;
  if (!otlp_) return sender;
  const Status started = Contain("sending metrics", [&] {
    sender = std::thread([this] { SendWhatComes(); });
    return Status();
  });
  has_sender_ = started.ok();
  return sender;
}

void Monitor::Watcher::SendWhatComes() {
  for (;;) {
    std::string body;
    {
      std::unique_lock lock(mutex_);
      to_send_.wait(lock, [this] { return over_ || !body_.empty(); });
      if (over_) return;
      body.swap(body_);
    }
    TrySending(body);
  }
}

void Monitor::Watcher::TrySending(const std::string& body) {
  const Status sent = otlp_->Send(body, over_fd_);
  if (sent.ok() || said_) return;
  const std::lock_guard lock(mutex_);
  if (over_) return;
  said_ = true;
  say_(sent.message() + "; it is tried again every ten seconds");
}

void Monitor::Watcher::AskIfSlow() {
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
