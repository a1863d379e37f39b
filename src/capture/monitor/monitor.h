// Watches a training job while it runs (`profile --monitor`): reads the step board once a second,
// hands the job's request for a window on to the processes, says where the job is, and writes its
// metrics. On a thread of its own: a file system that hangs holds up nobody.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/status.h"
#include "capture/monitor/board_file.h"
#include "capture/monitor/metrics_server.h"
#include "capture/monitor/run_folder.h"
#include "capture/monitor/slow_steps.h"
#include "capture/monitor/step_reader.h"
#include "capture/recording/options.h"

namespace batchlight::capture {

class Monitor {
 public:
  // `windows` says how many were recorded so far; called on the monitor's thread.
  Monitor(MonitorOptions options, std::string version, RunFolder folder, BoardFile file,
          std::function<uint32_t()> windows);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  // Before Start().
  void Serve(MetricsServer server) { server_.emplace(std::move(server)); }
  // Errors: there can be no thread.
  Status Start();

 private:
  void Run();
  void Look();
  // Answers requests until then. False: this object goes.
  bool WaitUntil(int64_t monotonic_ns);
  void AskIfSlow();

  const MonitorOptions options_;
  const std::string version_;  // of batchlight
  const RunFolder folder_;
  BoardFile file_;
  const std::function<uint32_t()> windows_;
  const int64_t start_ns_;  // CLOCK_REALTIME
  StepReader reader_{file_.board()};
  SlowSteps slow_steps_;
  std::optional<MetricsServer> server_;
  std::string metrics_;  // as last looked at

  int over_fd_ = -1;  // eventfd: this object goes
  std::thread thread_;
};

}  // namespace batchlight::capture
