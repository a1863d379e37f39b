// A process whose Python threads are looked at again and again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/python/code_names.h"
#include "capture/python/cpu_limit.h"
#include "capture/python/gil_watch.h"
#include "capture/python/python_log.h"
#include "capture/usage/kernel_file.h"

namespace batchlight::capture {

class SampledProcess {
 public:
  explicit SampledProcess(const cpython::ProcessFrames& where)
      : reader_(where), attach_ns_(where.attach_ns) {}
  SampledProcess(const SampledProcess&) = delete;
  SampledProcess& operator=(const SampledProcess&) = delete;

  // Looks at each thread once: it stands for the time since the look before. A thread that is where
  // it was is one sample that lasts; others go to the log. One that moved while it was read is left
  // to the next look. When `limit` is reached it leaves the rest for later. False with errno: the
  // process is gone, or its memory cannot be read, time after time.
  bool Look(PythonLog& log, CpuLimit& limit);
  // Writes what lasts up to now, and starts over.
  void Flush(PythonLog& log);

  int64_t attach_ns() const { return attach_ns_; }

 private:
  // PythonSample::gil
  enum class GilState : uint32_t { kUnknown, kApart, kHolds, kWaits };

  // How long a thread ran, and how long it could run and had no processor.
  struct Scheduled {
    uint64_t ran_ns = 0;
    uint64_t ready_ns = 0;
  };

  enum class Sight { kSeen, kNoPython, kMoved };

  struct Thread {
    KernelFile schedule;  // /proc/PID/task/TID/schedstat
    KernelFile syscall;   // /proc/PID/task/TID/syscall
    Scheduled scheduled;  // up to the last look
    GilState gil = GilState::kUnknown;
    uint64_t innermost = 0;  // of `frames`
    PythonFrame top;
    uint64_t outermost = 0;  // of the last stack that was seen: where it ends; 0: not known
    uint64_t doubted = 0;    // where the last stack since then ended; 0: none ended elsewhere
    int elsewhere = 0;       // grows with looks whose stack ended elsewhere, shrinks with others
    std::vector<PythonFrame> frames;
    std::vector<NamedFrame> named;
    bool lasts = false;
    int64_t start_ns = 0;  // of what lasts
    format::PythonSampleRecord sample{};
    int64_t last_ns = 0;  // of the last look; 0: none yet
    int moved = 0;        // looks since then in which it moved while it was read
    uint64_t look = 0;
  };

  // Sets Thread::gil of all threads, and who holds it.
  void LookAtGil(CpuLimit& limit);
  GilWatch::Holder WaitOf(uint32_t tid, Thread& thread);
  void LookAt(const PythonThread& found, Thread& thread, PythonLog& log);
  // Into frames_, which stays empty where the thread has not moved since the last look, and named_
  // if these are not what they were. What has just yielded or returned has no callers any more and
  // looks like the end of the stack, for as long as the thread has no processor then: a stack that
  // ends where the one before did is whole; one that ends elsewhere, if the next look finds the
  // same end. Where stacks often end elsewhere (greenlets, callbacks from C++), all are believed.
  Sight See(PythonThread found, Thread& thread, bool ran);
  static void Believe(const PythonThread& found, const PythonFrame& top, uint64_t outermost,
                      Thread& thread);
  // Also its innermost frame, into `top`, and the outermost, where frames_ does not stay empty.
  bool ReadStack(const PythonThread& found, const Thread& thread, bool ran, PythonFrame& top,
                 uint64_t& outermost);
  Scheduled ScheduledOf(uint32_t tid, Thread& thread) const;
  void Write(Thread& thread, PythonLog& log);
  std::string PathOf(uint32_t tid, const char* file) const;

  FrameReader reader_;
  const int64_t attach_ns_;
  CodeNames names_;
  std::unordered_map<uint32_t, Thread> threads_;  // by tid
  std::vector<PythonThread> found_;
  std::vector<PythonFrame> frames_;
  std::vector<NamedFrame> named_;
  uint64_t look_ = 0;
  int failures_ = 0;  // looks since the last one that read anything
  GilWatch gil_;
  uint32_t gil_holder_ = 0;  // at this look; 0: not known
};

}  // namespace batchlight::capture
