// The file in which recorded programs leave the samples that they take of themselves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "capture/recording/cpu_options.h"
#include "capture/recording/live_folder.h"
#include "format/timer_samples.h"
#include "native/registers.h"

namespace batchlight::capture {

// A sample, out of the program's reach.
struct TakenSample {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t cpu = 0;
  int64_t image_ns = 0;
  int64_t at_ns = 0;
  uint64_t cpu_ns = 0;
  uint32_t unloads = 0;
  native::Registers registers;
  std::vector<uint8_t> stack;
};

class TimerSlots {
 public:
  static Result<TimerSlots> Create(const LiveFolder& live_folder, const CpuOptions& options);
  TimerSlots(TimerSlots&& other) noexcept;
  TimerSlots& operator=(TimerSlots&& other) = delete;
  ~TimerSlots();

  // What lies there, by time; its slots are free again.
  std::vector<TakenSample> Take();

  uint64_t dropped() const { return page_->dropped.load(); }
  const std::atomic<uint32_t>& unloads() const { return page_->unloads; }
  uint32_t processes() const { return page_->processes.load(); }
  uint32_t threads_without() const { return page_->threads_without.load(); }

 private:
  // Who filled a slot when it was last looked at: it may have been killed at that.
  struct Filler {
    uint32_t pid = 0;
    int rounds = 0;
  };

  TimerSlots(format::TimerSamplesPage* page, uint32_t slots)
      : page_(page), slots_(slots), fillers_(slots) {}
  format::TimerSample& SlotAt(uint32_t index);
  void FreeIfLeft(uint32_t index, uint32_t pid);

  format::TimerSamplesPage* page_;
  uint32_t slots_;  // as made: what the page says is the program's
  std::vector<Filler> fillers_;
};

}  // namespace batchlight::capture
