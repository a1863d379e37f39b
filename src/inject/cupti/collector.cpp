#include "inject/cupti/collector.h"

#include <pthread.h>

#include <cstdlib>

#include "inject/buffer/facts.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/kinds.h"
#include "inject/rt/capture.h"
#include "inject/rt/control.h"
#include "inject/rt/step_window.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {

CollectorState g_collector;

namespace {

void SayWhyNot(const char* text) {
  Guard guard;
  if (guard) Reason(guard, "cuda", text);
}

void AtExit() { Flush(true, kExitTimeoutMs); }

bool WaitsForProfilerStart() {
  return Control()->trigger == format::CaptureTrigger::kCudaProfilerApi && MoreCaptures();
}

// In cuInit: what is needed until the first capture.
const char* AttachAtStart(CollectorState& state) {
  if (!Collecting()) return WaitsForProfilerStart() ? Attach(Hold::kListens) : nullptr;
  if (const char* why = Attach(Hold::kEarly)) return why;
  SetAllCalls(state.library, state.options, true);  // before the first context, or never
  return nullptr;
}

void BeginWindow(CollectorState& state) {
  if (!state.Records()) {
    if (const char* why = Attach(Hold::kLate)) return SayWhyNot(why);
    state.context_seen.store(true, std::memory_order_release);
  }
  state.ever_collected.store(true);
  state.windows.fetch_add(1);
  if (const char* why = EnableKinds(state)) SayWhyNot(why);
}

}  // namespace

void StartCollector() {
  static bool started = false;  // the driver calls once; cuInit is serialized
  if (started || Control() == nullptr || !Traces(format::kTraceCuda)) return;
  started = true;
  sys::ErrnoSaver errno_saver;
  CollectorState& state = g_collector;
  state.options = ParseOptions(Control()->extra);
  if (const char* why = AttachAtStart(state)) return SayWhyNot(why);
  state.running.store(true, std::memory_order_release);
  g_on_window = FollowState;
  FollowState();
  if (!StartHelper()) SayWhyNot("no helper thread could be started: records come at the end only");
  pthread_atfork(nullptr, nullptr, ForgetCollector);
  std::atexit(AtExit);
}

bool HoldsCupti() {
  return g_collector.running.load(std::memory_order_acquire) &&
         g_collector.hold.load(std::memory_order_acquire) != Hold::kNone;
}

void FollowState() {
  CollectorState& state = g_collector;
  if (!state.running.load(std::memory_order_acquire)) return;
  // The thread that is inside looks again after it has finished, so others need not wait.
  while (Collecting() != state.collecting.load() && !state.applying.exchange(true)) {
    const bool on = Collecting();
    if (on) {
      BeginWindow(state);
    } else if (state.Records()) {
      DisableKinds(state);
    }
    state.collecting.store(on);
    state.applying.store(false);
  }
}

void LeaveBetweenWindows() {
  CollectorState& state = g_collector;
  if (!state.Records() || state.applying.exchange(true)) return;
  if (!Collecting() && !state.collecting.load() && Detach() && WaitsForProfilerStart()) {
    if (const char* why = Attach(Hold::kListens)) SayWhyNot(why);
  }
  state.applying.store(false);
}

void Flush(bool final, uint32_t timeout_ms) {
  CollectorState& state = g_collector;
  if (!state.running.load(std::memory_order_acquire) || !state.Records()) return;
  if (state.helper_tid.load() == static_cast<uint32_t>(sys::Tid())) return;
  const uint32_t done = state.flushes_done.load();
  state.flush_wanted.store(static_cast<uint32_t>(final ? FlushKind::kAll : FlushKind::kCompleted));
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + int64_t{timeout_ms} * 1'000'000;
  // A wake-up that comes just before the helper sleeps is lost, hence the short waits.
  while (state.flushes_done.load() == done && sys::Nanoseconds(CLOCK_MONOTONIC) < deadline) {
    WakeHelper();
    const timespec wait{0, 5'000'000};
    sys::Call(SYS_futex, &state.flushes_done, FUTEX_WAIT_PRIVATE, done, &wait, nullptr, 0);
  }
}

void ForgetCollector() {
  g_collector.running.store(false, std::memory_order_release);
  g_collector.hold.store(Hold::kNone, std::memory_order_release);
  g_collector.pool.Forget();
}

}  // namespace batchlight::inject::cupti
