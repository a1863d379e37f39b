// Single launches that CUPTI runs once for each pass of counters, putting back in between the
// memory that they write. The session is prepared where an iteration ends, and only started and
// stopped around a launch: within the callback of a launch cuptiRangeProfilerEnable never returns
// (CUPTI 13.0, H200).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "inject/counting/capture_watch.h"
#include "inject/counting/counter_session.h"
#include "inject/counting/launch_choice.h"
#include "inject/counting/launch_lock.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {

class LaunchReplays {
 public:
  static constexpr size_t kMost = 16;
  // One more, which shows that a launch was not alone.
  static constexpr size_t kRoom = kMost + 1;
  struct Time {
    uint64_t begin_ticks;
    uint64_t end_ticks;
  };

  // `words`: as JudgeLaunch takes them.
  LaunchReplays(const Library& library, void* subscriber, const char* words)
      : library_(library), subscriber_(subscriber), words_(words) {}

  // From here on launches in `context` are replayed, by `session`, which is configured for kRoom
  // ranges of kernels.
  void Begin(CounterSession& session, const void* context);
  // How many have been, each a range of the session. False if CUPTI failed.
  bool End(size_t* count);
  // Nothing is replayed any more; what is being replayed ends with its launch. Waits for nobody.
  void Stop() { is_on_.store(false, std::memory_order_release); }
  const Time& time(size_t i) const { return times_[i]; }
  // When a launch began that was replayed, on CUPTI's clock; 0: it was not. Any thread.
  uint64_t BeginNs(uint32_t correlation) const;
  // What was asked for and not replayed, as reasons of the recording.
  void SayRefused() const;

  // From CUPTI's callback around a call of the driver.
  void OnCall(uint32_t cbid, const CallbackData& call);

 private:
  // Why not: by LaunchFate, and for what is seen later.
  enum Refusal : size_t {
    kInCapture = size_t(LaunchFate::kCount),
    kTooMany,
    kWithOthers,
    kRefusals
  };

  void Enter(uint32_t cbid, const CallbackData& call);
  void Leave(const CallbackData& call);
  bool BeginOne();
  void EndOne(const CallbackData& call);

  struct Launch {
    uint64_t cupti_ns = 0;
    std::atomic<uint32_t> correlation{0};  // set last
  };

  const Library& library_;
  void* const subscriber_;
  const char* const words_;

  std::atomic<bool> is_on_{false};
  std::atomic<const void*> context_{nullptr};
  LaunchLock lock_;  // all below belongs to who holds it
  CounterSession* session_ = nullptr;
  uint32_t open_ = 0;         // correlation of the launch that is being made; 0: none
  bool is_counting_ = false;  // that launch
  bool has_failed_ = false;
  std::optional<BetweenCaptures> between_captures_;
  size_t count_ = 0;
  Time times_[kMost] = {};
  Launch launches_[kMost];
  uint64_t refused_[kRefusals] = {};
};

}  // namespace batchlight::inject::cupti
