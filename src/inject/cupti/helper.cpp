// The collector's own thread: flushes CUPTI regularly, so that a killed process has lost little;
// reads the clocks; and follows the tool's starts and stops.
#include <sys/prctl.h>

#include "inject/buffer/facts.h"
#include "inject/cupti/clock.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/cost.h"
#include "inject/cupti/helper_thread.h"
#include "inject/cupti/identity.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// Fewer would tell the cost of a buffer, not of a record: 18 to 56 us each were seen.
constexpr uint64_t kEnoughRecords = 1000;

void WaitForChange(uint32_t seen, int64_t ns) {
  if (ns <= 0) return;
  const timespec wait{ns / 1'000'000'000, ns % 1'000'000'000};
  sys::Call(SYS_futex, &Control()->changes, FUTEX_WAIT, seen, &wait, nullptr, 0);
}

class Helper {
 public:
  void Run() {
    CollectorState& state = g_collector;
    state.helper_tid.store(static_cast<uint32_t>(sys::Tid()));
    const int64_t interval = int64_t{state.options.flush_interval_ms} * kNsPerMs;
    int64_t next_flush = Now() + interval;
    while (state.running.load(std::memory_order_acquire)) {
      const uint32_t seen = Control()->changes.load(std::memory_order_acquire);
      FollowState();
      // In this order: whoever holds one of these numbers set its bit first.
      const uint32_t asked = state.flushes_asked.load();
      const uint32_t wanted = state.flush_wanted.exchange(0);
      if (wanted != 0 || asked != state.flushes_done.load()) {
        if (wanted != 0) FlushNow((wanted & kFlushAll) != 0);
        state.flushes_done.store(asked);
        sys::Call(SYS_futex, &state.flushes_done, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr,
                  0);
      } else if (Now() >= next_flush) {
        Tick();
        next_flush = Now() + interval;
      } else {
        WaitForChange(seen, next_flush - Now());
      }
    }
  }

 private:
  static int64_t Now() { return sys::Nanoseconds(CLOCK_MONOTONIC); }

  // Inside cuInit neither CUPTI nor the driver may be called from here: they share its locks.
  void Tick() {
    if (!g_collector.context_seen.load(std::memory_order_acquire)) return;
    identity_.Tell();
    MeasureOnce();
    // Work that was running when collection ended comes one interval later.
    const bool collecting = g_collector.collecting.load();
    if (collecting || was_collecting_) {
      WriteClockPair(g_collector.library);
      g_collector.library.cuptiActivityFlushAll(0);
    }
    was_collecting_ = collecting;
  }

  void FlushNow(bool all) {
    WriteClockPair(g_collector.library);
    g_collector.library.cuptiActivityFlushAll(all ? kFlushForced : 0);
    if (all) {
      if (g_collector.context_seen.load(std::memory_order_acquire)) {
        identity_.Tell();
        MeasureOnce();
      }
      const uint64_t records = g_collector.decoded_records.load();
      Guard guard;
      if (records >= kEnoughRecords && guard) {
        RecordCost(
            guard, "decode", false,
            static_cast<double>(g_collector.decode_ns.load()) / static_cast<double>(records));
      }
    }
  }

  void MeasureOnce() {
    // With all calls recorded the measured one cannot be switched off.
    if (measured_ || !g_collector.collecting.load() || g_collector.options.all_calls) return;
    measured_ = true;
    MeasureCallCost(g_collector.library);
  }

  Identity identity_;
  bool measured_ = false;
  bool was_collecting_ = false;
};

void* HelperMain(void*) {
  sys::Call(SYS_prctl, PR_SET_NAME, "batchlight-cuda", 0, 0, 0);
  Helper().Run();
  return nullptr;
}

}  // namespace

bool StartHelper() { return StartHelperThread(HelperMain, nullptr); }

void WakeHelper() {
  sys::Call(SYS_futex, &Control()->changes, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace batchlight::inject::cupti
