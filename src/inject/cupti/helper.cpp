// The collector's own thread: flushes CUPTI at an even pace, so that a killed process has lost
// little; reads the clocks; and follows starts and stops that the tool makes.
#include <pthread.h>
#include <sys/prctl.h>

#include <csignal>

#include "inject/buffer/facts.h"
#include "inject/cupti/clock.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/cost.h"
#include "inject/cupti/gpus.h"
#include "inject/cupti/identity.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

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
    int64_t next_tick = Now() + interval;
    while (state.running.load(std::memory_order_acquire)) {
      const uint32_t seen = Control()->changes.load(std::memory_order_acquire);
      FollowState();
      // A whole interval after a window's end: its last work should be done by then.
      if (WindowEnded()) next_tick = Now() + interval;
      const auto wanted = static_cast<FlushKind>(state.flush_wanted.exchange(0));
      if (wanted != FlushKind::kNone) {
        FlushNow(wanted);
        state.flushes_done.fetch_add(1);
        sys::Call(SYS_futex, &state.flushes_done, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr,
                  0);
      } else if (Now() >= next_tick) {
        Tick();
        next_tick = Now() + interval;
      } else {
        WaitForChange(seen, next_tick - Now());
      }
    }
  }

 private:
  static int64_t Now() { return sys::Nanoseconds(CLOCK_MONOTONIC); }

  // True once after each window, however short.
  bool WindowEnded() {
    const CollectorState& state = g_collector;
    if (state.collecting.load() || state.windows.load() == windows_ended_) return false;
    windows_ended_ = state.windows.load();
    return true;
  }

  // Inside cuInit neither CUPTI nor the driver may be called from here: they share its locks.
  void Tick() {
    CollectorState& state = g_collector;
    if (!state.context_seen.load(std::memory_order_acquire) || !state.Records()) return;
    MeasureOnce();
    if (state.collecting.load() || state.windows.load() == windows_ended_) {
      WriteClockPair(state.library);
      state.library.cuptiActivityFlushAll(0);
    }
    TellIdentity();
    if (!state.collecting.load()) LeaveBetweenWindows();
  }

  void FlushNow(FlushKind kind) {
    CollectorState& state = g_collector;
    if (!state.Records()) return;
    WriteClockPair(state.library);
    state.library.cuptiActivityFlushAll(kind == FlushKind::kAll ? kFlushForced : 0);
    if (!state.context_seen.load(std::memory_order_acquire)) return;
    TellIdentity();
    if (kind != FlushKind::kAll) return;
    MeasureOnce();
    SayDecodeCost();
  }

  // After a flush: by then CUPTI has told of the GPUs, if it does.
  void TellIdentity() {
    identity_.Tell();
    if (!g_collector.devices_told.exchange(true)) TellGpusOfDriver();
  }

  void MeasureOnce() {
    // With all calls recorded the measured one cannot be switched off, and late it is never on.
    const CollectorState& state = g_collector;
    if (measured_ || !state.collecting.load() || state.options.all_calls ||
        state.hold.load() != Hold::kEarly) {
      return;
    }
    measured_ = true;
    MeasureCallCost(state.library);
  }

  static void SayDecodeCost() {
    const uint64_t records = g_collector.decoded_records.load();
    Guard guard;
    if (records == 0 || !guard) return;
    RecordCost(guard, "decode", false,
               static_cast<double>(g_collector.decode_ns.load()) / static_cast<double>(records));
  }

  Identity identity_;
  bool measured_ = false;
  uint32_t windows_ended_ = 0;
};

void* HelperMain(void*) {
  sys::Call(SYS_prctl, PR_SET_NAME, "batchlight-cuda", 0, 0, 0);
  Helper().Run();
  return nullptr;
}

}  // namespace

bool StartHelper() {
  if (pthread_create == nullptr) return false;
  // The program's signals are for the program's threads.
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int result = pthread_create(&thread, &attributes, HelperMain, nullptr);
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof all);
  return result == 0;
}

void WakeHelper() {
  sys::Call(SYS_futex, &Control()->changes, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

}  // namespace batchlight::inject::cupti
