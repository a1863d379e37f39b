// Watches the live folder for process files and learns how each recorded process ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "capture/loop/event_loop.h"
#include "capture/recording/live_folder.h"
#include "capture/recording/tool_log.h"

namespace batchlight::capture {

class ProcessWatch {
 public:
  // Both outlive this object.
  ProcessWatch(EventLoop& loop, ToolLog& log) : loop_(loop), log_(log) {}
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;
  ~ProcessWatch();

  // Starts to watch; the folder outlives this object. Call before the program runs.
  Status Open(const LiveFolder& live_folder);
  // The tool waited for this process itself: its child, or an orphan that came to it.
  void NoteWaitStatus(pid_t pid, int wait_status);
  // Looks at the folder once more and notes the ends that are known by now.
  void Finish();

  size_t recorded() const { return recorded_; }
  size_t alive() const { return processes_.size(); }
  // Of those that are recorded and alive; in no order.
  std::vector<pid_t> AlivePids() const;

 private:
  struct Process {
    int pid_fd = -1;
    int64_t attach_ns = 0;
  };
  struct End {
    int wait_status = 0;
    int64_t end_ns = 0;
  };

  Status LookNowAndThen();
  void ReadNames();
  void ScanFolder();
  void AddFile(const char* name);
  bool IsWriter(pid_t pid, int pid_fd) const;
  void SayElsewhere(pid_t pid);
  void SayIfForbidden(pid_t pid, int wait_status);
  void HandleEnd(pid_t pid);
  void Record(pid_t pid, int64_t attach_ns, const End* end);

  EventLoop& loop_;
  ToolLog& log_;
  const LiveFolder* folder_ = nullptr;
  int notify_fd_ = -1;
  bool looks_by_timer_ = false;  // notify_fd_ is a timer: there is no inotify
  size_t recorded_ = 0;
  bool said_elsewhere_ = false;                   // a process in a namespace of its own
  bool said_forbidden_ = false;                   // one that a seccomp filter has killed
  std::unordered_map<pid_t, Process> processes_;  // alive
  std::unordered_map<std::string, bool> files_;   // seen
  std::unordered_map<pid_t, End> waited_;         // ended, perhaps before their file was seen
};

}  // namespace batchlight::capture
