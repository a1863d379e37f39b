#include "inject/cupti/collector.h"

#include <cstdlib>

#include "inject/buffer/facts.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/loop_follower.h"
#include "inject/collect/step_detail.h"
#include "inject/collect/step_window.h"
#include "inject/cupti/call_stacks.h"
#include "inject/cupti/clock.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/copy_sources.h"
#include "inject/cupti/follower.h"
#include "inject/cupti/identity.h"
#include "inject/cupti/kinds.h"
#include "inject/cupti/waits.h"
#include "inject/rt/control.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {

CollectorState g_collector;
const Follower* g_follower = nullptr;

namespace {

constexpr uint32_t kReadyBuffers = 4;

void SayWhyNot(const char* text) { SayRefused(nullptr, text); }

// The callbacks we want. Only those for stacks are on the path of a launch.
void EnableCallbacks(const Library& library, void* subscriber, const Options& options) {
  library.cuptiEnableCallback(1, subscriber, kResource, kContextCreated);
  if (options.graph_nodes || g_follows_loop) {
    library.cuptiEnableCallback(1, subscriber, kResource, kGraphNodeCreated);
  }
  if (options.graph_nodes) {
    library.cuptiEnableCallback(1, subscriber, kResource, kGraphNodeCloned);
  }
  EnableWaitCallbacks(library, subscriber, options);
  EnableCopyCallbacks(library, subscriber, options);
  EnableCallStackCallbacks(library, options, subscriber);
  if (Control()->trigger == format::CaptureTrigger::kCudaProfilerApi) {
    library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kRuntimeProfilerStart);
    library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kRuntimeProfilerStop);
    library.cuptiEnableCallback(1, subscriber, kDriverApi, kDriverProfilerStart);
    library.cuptiEnableCallback(1, subscriber, kDriverApi, kDriverProfilerStop);
  }
}

// nullptr, or why CUPTI cannot be used. Subscribing comes first: it reveals another user of CUPTI,
// and keeps later ones from taking over the buffers.
const char* ClaimCupti(CollectorState& state) {
  if (const char* why = OpenLibrary(state.library)) return why;
  const Library& library = state.library;
  const uint32_t subscribed = library.cuptiSubscribe(&state.subscriber, OnCallback, nullptr);
  if (subscribed != kSuccess) return ResultText(library, subscribed);
  SetAttributes(library);
  state.pool.Prepare(kReadyBuffers);
  const uint32_t registered =
      library.cuptiActivityRegisterCallbacks(OnBufferRequested, OnBufferCompleted);
  if (registered != kSuccess) return ResultText(library, registered);
  EnableCallbacks(library, state.subscriber, state.options);
  EnableFactKinds(library, state.options);
  return nullptr;
}

// Switching kernels off and on where graphs are recorded as a whole was never seen to work: once
// the program has a graph, CUPTI stays on in steps without detail.
bool MayPause(const CollectorState& state) {
  return state.options.graph_nodes ||
         !(state.whole_graphs && state.graph_made.load(std::memory_order_relaxed));
}

void AtExit() {
  if (g_follower != nullptr) g_follower->ends();
  Flush(true, kExitTimeoutMs);
}

}  // namespace

void SayRefused(const char* what, const char* why) {
  char text[512];
  Text words(text, sizeof text);
  if (what != nullptr) words.Add(what).Add(" are not recorded: ");
  words.Add(why);
  Guard guard;
  if (guard) Reason(guard, "cuda", text);
}

namespace {

// `late`: long after cuInit, when there may be contexts that no callback will tell of.
void Start(bool late) {
  static bool started = false;  // the driver calls once; cuInit is serialized
  if (started || Control() == nullptr || !Traces(format::kTraceCuda)) return;
  started = true;
  sys::ErrnoSaver errno_saver;
  CollectorState& state = g_collector;
  state.options = ParseOptions(Control()->extra);
  if (const char* why = ClaimCupti(state)) {
    if (state.subscriber != nullptr) state.library.cuptiUnsubscribe(state.subscriber);
    SayWhyNot(why);
    return;
  }
  SayCuptiVersion(state.library);
  state.running.store(true, std::memory_order_release);
  WriteClockPair(state.library);
  if (late) {
    state.context_seen.store(true, std::memory_order_release);
  } else {
    SetAllCalls(state.library, state.options, true);  // until OnResource() sees the first context
  }
  g_on_window = FollowState;
  state.whole_graphs = Collecting() && Control()->trigger == format::CaptureTrigger::kNone;
  FollowState();
  state.has_helper = StartHelper();
  if (!state.has_helper)
    SayWhyNot("no helper thread could be started: records come at the end only");
  if (g_follower != nullptr) g_follower->starts(state.library, state.subscriber);
  OnForkInChild(ForgetCollector);
  std::atexit(AtExit);
}

}  // namespace

void StartCollectorBeforeWindow() {
  OnForkInChild([] { g_before_window = nullptr; });  // CUDA does not work there
  g_before_window = [] { Start(true); };
}

void StartCollector() { Start(false); }

bool HoldsCupti() { return g_collector.running.load(std::memory_order_acquire); }

void FollowState() {
  CollectorState& state = g_collector;
  if (!state.running.load(std::memory_order_acquire)) return;
  const auto wanted = [&state] { return Collecting() && !(IsPlainStep() && MayPause(state)); };
  FollowInTurn(state.collecting, state.applying, wanted, [&state](bool on) {
    // For a step without detail graphs stay as they are.
    const bool whole_graphs = state.whole_graphs && !state.paused;
    if (on) {
      state.ever_collected.store(true);
      EnableKinds(state.library, state.options, whole_graphs, SayRefused);
      if (state.context_seen.load(std::memory_order_acquire)) {
        EnablePageFaults(state.library, state.options, SayRefused);
      }
      state.paused = false;
    } else if (Collecting() && IsPlainStep()) {
      DisableKinds(state.library, state.options, false);
      state.paused = true;
    } else {
      DisableKinds(state.library, state.options, state.whole_graphs);
      state.whole_graphs = false;
      state.paused = false;
    }
  });
}

void Flush(bool final, uint32_t timeout_ms) {
  CollectorState& state = g_collector;
  if (!state.running.load(std::memory_order_acquire)) return;
  if (state.helper_tid.load() == static_cast<uint32_t>(sys::Tid())) return;
  if (!state.has_helper.load()) {
    WriteClockPair(state.library);
    state.library.cuptiActivityFlushAll(final ? kFlushForced : 0);
    return;
  }
  state.flush_wanted.fetch_or(final ? kFlushAll : kFlushCompleted);
  const uint32_t number = state.flushes_asked.fetch_add(1) + 1;
  const int64_t deadline = sys::Nanoseconds(CLOCK_MONOTONIC) + int64_t{timeout_ms} * 1'000'000;
  // A wake-up that comes just before the helper sleeps is lost, hence the short waits.
  for (uint32_t done = state.flushes_done.load();
       static_cast<int32_t>(done - number) < 0 && sys::Nanoseconds(CLOCK_MONOTONIC) < deadline;
       done = state.flushes_done.load()) {
    WakeHelper();
    const timespec wait{0, 5'000'000};
    sys::Call(SYS_futex, &state.flushes_done, FUTEX_WAIT_PRIVATE, done, &wait, nullptr, 0);
  }
}

void ForgetCollector() {
  g_collector.running.store(false, std::memory_order_release);
  g_collector.pool.Forget();
  if (g_follower != nullptr) g_follower->forgets();
}

}  // namespace batchlight::inject::cupti
