// Watches a training job while it runs (`profile --monitor`): reads the step board once a second,
// hands the job's request for a window on to the processes, says where the job is, and writes its
// metrics. On a thread of its own: a file system that hangs holds up nobody.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/status.h"
#include "capture/monitor/board_file.h"
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

  // Errors: there can be no thread.
  Status Start();

 private:
  void Run();
  void Look();
  void AskIfSlow();

  const MonitorOptions options_;
  const std::string version_;  // of batchlight
  const RunFolder folder_;
  BoardFile file_;
  const std::function<uint32_t()> windows_;
  const int64_t start_ns_;  // CLOCK_REALTIME
  StepReader reader_{file_.board()};
  SlowSteps slow_steps_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;  // under mutex_
  std::thread thread_;
};

}  // namespace batchlight::capture
