// Watches a training job while it runs (`profile --monitor`): reads the step board once a second,
// hands the job's request for a window on to the processes, says where the job is, and writes its
// metrics. On a thread of its own: a file system that hangs holds up nobody.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/status.h"
#include "capture/monitor/board_file.h"
#include "capture/monitor/metrics_file.h"
#include "capture/monitor/metrics_server.h"
#include "capture/monitor/otlp.h"
#include "capture/monitor/run_folder.h"
#include "capture/recording/options.h"

namespace batchlight::capture {

class Monitor {
 public:
  // `windows` says how many were recorded so far; called on the monitor's thread until End().
  Monitor(MonitorOptions options, std::string version, RunFolder folder, BoardFile file,
          std::function<uint32_t()> windows);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor() { End(); }

  // Before Start().
  void Serve(MetricsServer server);
  void Write(MetricsFile file);
  // `say` is told once if the metrics are not taken; called on the monitor's thread until End().
  void Send(OtlpSender sender, std::string service, std::function<void(const std::string&)> say);
  // Errors: there can be no thread.
  Status Start();
  // Takes back what it said of the job. False: the file system of the folder or of the metrics does
  // not answer, and what it has of this tool stays there.
  bool End();

 private:
  class Watcher;

  // The thread's too, which may have to be left behind.
  std::shared_ptr<Watcher> watcher_;
  std::thread thread_;
};

}  // namespace batchlight::capture
