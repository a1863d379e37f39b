// Metrics of GPUs over time: host_query samples them in a process of its own, and what it says goes
// into the tool's part of the recording. Nothing of it is in the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "capture/loop/event_loop.h"
#include "capture/recording/control.h"
#include "capture/recording/gpu_sampling.h"
#include "capture/recording/sample_frames.h"
#include "capture/recording/tool_log.h"

namespace batchlight::capture {

class GpuSampler {
 public:
  // All must outlive it.
  GpuSampler(EventLoop& loop, ToolLog& log, const Control& control)
      : loop_(loop), log_(log), control_(control) {}
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;
  ~GpuSampler() { Stop(); }

  // A failure is a reason in the recording: all else is recorded.
  void Start(const GpuSampling& options);
  // Takes what was sampled up to now, and ends the process.
  void Stop();
  // Whether the child that has ended was its process.
  bool NoteEnd(pid_t pid);

 private:
  void Read();
  void End();
  void SayWhyNot(const std::string& why);

  EventLoop& loop_;
  ToolLog& log_;
  const Control& control_;
  SampleFrames frames_;
  uint64_t lost_ = 0;
  pid_t pid_ = -1;
  int output_fd_ = -1;  // of host_query
  int input_fd_ = -1;   // closed to end it
};

}  // namespace batchlight::capture
