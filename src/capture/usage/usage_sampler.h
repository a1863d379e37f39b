// Looks ten times a second, and when collection goes on and off, at what the recorded processes,
// the machine and the network have used up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/loop/event_loop.h"
#include "capture/loop/look_pace.h"
#include "capture/recording/process_watch.h"
#include "capture/usage/children_time.h"
#include "capture/usage/machine_counts.h"
#include "capture/usage/network_counts.h"
#include "capture/usage/process_counts.h"
#include "capture/usage/unreached.h"
#include "capture/usage/usage_log.h"

namespace batchlight::capture {

class UsageSampler {
 public:
  // `program`: the process that the tool has started, with `library` in LD_PRELOAD. All outlive it.
  static Result<std::unique_ptr<UsageSampler>> Open(EventLoop& loop, const ProcessWatch& processes,
                                                    const LiveFolder& live_folder, pid_t program,
                                                    std::string library);
  UsageSampler(const UsageSampler&) = delete;
  UsageSampler& operator=(const UsageSampler&) = delete;
  ~UsageSampler();

  // Collection went on or off, or another capture began.
  void SetCapture(uint32_t capture_index, bool collecting);
  // Looks again unless it has just looked: a process is about to go.
  void LookIfDue();
  // What is to be said of processes that no look from inside reaches; empty: nothing.
  std::string UnreachedText() const { return unreached_.Text(); }

 private:
  UsageSampler(EventLoop& loop, const ProcessWatch& processes, UsageLog log, pid_t program,
               std::string library)
      : loop_(loop),
        processes_(processes),
        log_(std::move(log)),
        program_(program),
        unreached_(std::move(library)) {}

  struct Followed {
    explicit Followed(pid_t pid) : counts(pid) {}
    ProcessCounts counts;
    ProcessorTimes first;               // read, since which its records tell its time
    format::ProcessUsageRecord last{};  // read, and with what its children had
    ChildrenTime children_user;
    ChildrenTime children_system;
    int64_t unwritten_ns = 0;  // when it was, if it told nothing new
    std::string written_name;  // of a process that records nothing itself
  };

  void TimerRang();
  void Look();
  void FindProcesses(bool again);
  void LookAtProcesses(bool again, int64_t now_ns);
  void Follow(pid_t pid);
  // It is gone: what its records told.
  void TellParent(const Followed& process);
  void Take(const format::ProcessUsageRecord& usage, int64_t now_ns, Followed& process);
  void SetTimer(bool on);

  EventLoop& loop_;
  const ProcessWatch& processes_;
  UsageLog log_;
  const pid_t program_;
  MachineCounts machine_{program_};
  NetworkCounts network_;
  Unreached unreached_;
  std::vector<pid_t> recorded_;  // alive
  std::map<pid_t, Followed> followed_;
  bool program_ended_ = false;
  int timer_fd_ = -1;
  bool collecting_ = false;
  bool tells_all_ = false;  // at the next look, what has not changed too
  uint32_t capture_index_ = 0;
  LookPace pace_{100};
  int64_t next_ns_ = 0;  // not before
  uint64_t looks_ = 0;
};

}  // namespace batchlight::capture
