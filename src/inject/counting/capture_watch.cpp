#include "inject/counting/capture_watch.h"

#include "inject/cupti/driver_launches.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {

void (*g_before_capture)() = nullptr;

namespace {

constexpr int64_t kMostWaitNs = 10'000'000'000;
// Callback ids as in cuda_driver_calls.def. The runtime's calls come here too.
constexpr uint16_t kBegins[] = {
    495,  // cuStreamBeginCapture
    496,  // cuStreamBeginCapture_ptsz
    539,  // cuStreamBeginCapture_v2
    540,  // cuStreamBeginCapture_v2_ptsz
    720,  // cuStreamBeginCaptureToGraph
    721,  // cuStreamBeginCaptureToGraph_ptsz
};
constexpr uint16_t kEnds[] = {
    497,  // cuStreamEndCapture
    498,  // cuStreamEndCapture_ptsz
};
// What cuStreamEndCapture returns for a capture that was broken. It is over as well; after any
// other error the stream is as before.
constexpr uint32_t kInvalidated = 901, kUnjoined = 904;

// How many captures are open; the highest bit while a thread switches something between them.
constexpr uint32_t kSwitching = 1u << 31;
std::atomic<uint32_t> g_captures{0};

bool TakeSwitch() {
  uint32_t none = 0;
  return g_captures.compare_exchange_strong(none, kSwitching, std::memory_order_acquire);
}

// `captures` have begun.
void GiveSwitch(uint32_t captures) {
  g_captures.fetch_add(captures - kSwitching, std::memory_order_release);
  sys::Call(SYS_futex, &g_captures, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

void CaptureBegins() {
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + kMostWaitNs;
  while (true) {
    if (TakeSwitch()) {
      if (g_before_capture != nullptr) g_before_capture();
      return GiveSwitch(1);
    }
    uint32_t seen = g_captures.load(std::memory_order_relaxed);
    const bool is_late = sys::Nanoseconds(CLOCK_MONOTONIC) >= deadline;
    if (seen != 0 && ((seen & kSwitching) == 0 || is_late)) {
      if (g_captures.compare_exchange_strong(seen, seen + 1)) return;
    } else if (seen != 0) {
      const timespec wait{0, 5'000'000};
      sys::Call(SYS_futex, &g_captures, FUTEX_WAIT_PRIVATE, seen, &wait, nullptr, 0);
    }
  }
}

void CaptureEnds() {
  uint32_t seen = g_captures.load(std::memory_order_relaxed);
  while ((seen & ~kSwitching) != 0 && !g_captures.compare_exchange_weak(seen, seen - 1)) {
  }
}

}  // namespace

void WatchCaptures(const Library& library, void* subscriber) {
  for (const uint16_t cbid : kBegins) library.cuptiEnableCallback(1, subscriber, kDriverApi, cbid);
  for (const uint16_t cbid : kEnds) library.cuptiEnableCallback(1, subscriber, kDriverApi, cbid);
}

bool IsAnyCaptured() { return (g_captures.load(std::memory_order_relaxed) & ~kSwitching) != 0; }

void OnCaptureCall(uint32_t cbid, const CallbackData& call) {
  constexpr uint32_t kEnter = 0;
  const bool begins = IsOneOf(kBegins, cbid);
  if (call.site == kEnter) {
    if (begins) CaptureBegins();
    return;
  }
  if (!begins && !IsOneOf(kEnds, cbid)) return;
  const uint32_t result =
      call.return_value == nullptr ? kSuccess : *static_cast<const uint32_t*>(call.return_value);
  const bool is_over = begins ? result != kSuccess
                              : result == kSuccess || result == kInvalidated || result == kUnjoined;
  if (is_over) CaptureEnds();
}

BetweenCaptures::BetweenCaptures() : is_taken_(TakeSwitch()) {}

BetweenCaptures::~BetweenCaptures() {
  if (is_taken_) GiveSwitch(0);
}

}  // namespace batchlight::inject::cupti
