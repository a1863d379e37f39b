// Looks at the Python code of all processes of a program, so many times a second, from outside: a
// thread of the tool's own, and nothing in the program. Its processes say where their frames are
// (cpython/process_frames.h).
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "capture/loop/look_pace.h"
#include "capture/python/python_log.h"
#include "capture/python/sampled_process.h"

namespace batchlight::capture {

class PythonSampler {
 public:
  // The folder outlives it. Errors: it takes no file.
  static Result<std::unique_ptr<PythonSampler>> Open(const LiveFolder& live_folder,
                                                     int64_t period_ns, bool collecting);
  ~PythonSampler();

  // Starts the thread: not before the program is forked. Errors: there can be no more threads.
  Status Start();
  // Whether it collects now. Where that changes, what lasts belongs to what was before.
  void SetCapture(uint32_t capture_index, bool collecting);
  // Writes what lasts. Errors: why nothing was seen of a process that runs Python, or why what was
  // seen ends before its time.
  Status Finish();

 private:
  PythonSampler(const LiveFolder& live_folder, PythonLog log, int64_t period_ns, bool collecting)
      : live_folder_(live_folder),
        log_(std::move(log)),
        period_ns_(period_ns),
        collecting_(collecting) {}

  void Run();
  void Round(int64_t begin_cpu_ns);
  // Processes that have said where their frames are since the last time.
  void FindProcesses();
  // Whether such files may have come since the last time: the folder has changed, or is due.
  bool MayHoldMore(int64_t now_ns);
  void AddProcess(const std::string& name);
  int64_t NextWaitNs(int64_t spent_ns);

  const LiveFolder& live_folder_;
  std::mutex mutex_;  // of all below but thread_
  std::condition_variable wake_;
  bool ending_ = false;
  Status failed_;
  PythonLog log_;
  const int64_t period_ns_;
  bool collecting_;
  uint32_t capture_index_ = 0;
  std::map<uint32_t, std::unique_ptr<SampledProcess>> processes_;  // by pid
  uint32_t last_pid_ = 0;                                          // looked at last
  std::unordered_set<std::string> files_;                          // seen
  int64_t search_at_ns_ = 0;
  int64_t search_every_ns_ = 5'000'000;  // at first, so that little of a short program is missed
  timespec changed_ = {};                // the folder
  int64_t settles_at_ns_ = 0;
  int64_t list_at_ns_ = 0;  // unless it changes
  LookPace pace_{25};
  int refused_ = 0;  // errno of a process whose memory the kernel did not let us read
  bool has_seen_ = false;
  std::minstd_rand random_;
  std::thread thread_;
};

}  // namespace batchlight::capture
