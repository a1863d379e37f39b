// Takes the samples that programs take of themselves by timers (format/timer_samples.h), where the
// kernel takes none for the tool, and writes them with their stacks. A thread of the tool's own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "capture/cpu/cpu_log.h"
#include "capture/cpu/mapped_code.h"
#include "capture/cpu/round_thread.h"
#include "capture/cpu/timer_slots.h"
#include "native/unwinder.h"

namespace batchlight::capture {

class TimerSampler {
 public:
  // Before the program executes. Errors: the live folder takes no file.
  static Result<std::unique_ptr<TimerSampler>> Open(const CpuOptions& options,
                                                    const LiveFolder& live_folder);

  // Starts the thread: not before the program is forked. Errors: there can be no more threads.
  Status Start();
  // Collection went on or off: what lies there belongs to what was before.
  void SetCapture(uint32_t capture_index);
  // Writes what lies there, and the names of all functions seen: before `capture_index` is sealed.
  // Errors: why what was recorded ends before its time.
  Status Finish(uint32_t capture_index);
  // Properties of the recording.
  std::vector<std::pair<std::string, std::string>> Facts() const;
  // What the samples do not show, to be said at the end; empty: nothing more.
  std::string Unseen() const;

 private:
  TimerSampler(const CpuOptions& options, TimerSlots slots, CpuLog log)
      : options_(options), slots_(std::move(slots)), log_(std::move(log)) {}

  void Round();
  void AddSample(const TakenSample& taken);
  void AddFrames(const TakenSample& taken, format::CpuSampleRecord& sample);
  // Whether all frames are in files that are known.
  bool Walk(const TakenSample& taken, format::CpuSampleRecord& sample);
  void NameThread(uint32_t pid, uint32_t tid, uint32_t samples);

  const CpuOptions options_;
  std::mutex mutex_;  // of all below but thread_
  Status failed_;
  TimerSlots slots_;
  CpuLog log_;
  native::Modules modules_;
  MappedCode code_{modules_, slots_.unloads()};
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> samples_;  // of a thread, by pid and tid
  std::vector<native::CodePlace> places_;
  std::vector<StackFrame> frames_;
  uint32_t capture_index_ = 0;
  int64_t last_ns_ = 0;
  uint64_t work_left_ = 0;  // of this round
  RoundThread thread_;      // goes first
};

}  // namespace batchlight::capture
