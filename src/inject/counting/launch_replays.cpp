#include "inject/counting/launch_replays.h"

#include "inject/counting/launch_callbacks.h"
#include "inject/counting/loop_context.h"
#include "inject/cupti/driver_launches.h"
#include "inject/rt/clock.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

constexpr const char* kRefusalTexts[] = {nullptr,
                                         nullptr,
                                         "collectives, which other GPUs would not run again",
                                         "cooperative launches",
                                         "CUDA graphs, whose kernels have no launch of their own",
                                         "beside the capture of a graph",
                                         "after as many as are replayed",
                                         "beside launches of other threads, or not in all passes"};

// As far apart the reader's ideas of CUPTI's clock and ours may be; the kernel begins within the
// range, which takes milliseconds.
constexpr uint64_t kClockErrorNs = 20'000;

// What was launched before has run to its end, so that nothing else is counted.
void WaitForContext() {
  static auto* const synchronize = reinterpret_cast<int (*)()>(DriverSymbol("cuCtxSynchronize"));
  if (synchronize != nullptr) synchronize();
}

}  // namespace

void LaunchReplays::Begin(CounterSession& session, const void* context) {
  session_ = &session;
  context_.store(context, std::memory_order_relaxed);
  is_on_.store(true, std::memory_order_release);
  EnableLaunches(library_, subscriber_, kKernelLaunches, true);
  EnableLaunches(library_, subscriber_, kGraphLaunches, true);
}

// A launch that another thread is making is waited for.
bool LaunchReplays::End(size_t* count) {
  const bool is_locked = lock_.Take();
  Stop();
  *count = is_locked ? count_ : 0;
  const bool has_failed = has_failed_;
  if (!is_locked) return !has_failed;
  EnableLaunches(library_, subscriber_, kKernelLaunches, false);
  EnableLaunches(library_, subscriber_, kGraphLaunches, false);
  lock_.Give();
  return !has_failed;
}

void LaunchReplays::OnCall(uint32_t cbid, const CallbackData& call) {
  constexpr uint32_t kEnter = 0;
  if (!IsOneOf(kKernelLaunches, cbid) && !IsOneOf(kGraphLaunches, cbid)) return;
  call.site == kEnter ? Enter(cbid, call) : Leave(call);
}

// Whether or not it is replayed, no other thread launches meanwhile: a collective that is launched
// beside a replay would be replayed with it. Who waits for too long ends the replays.
void LaunchReplays::Enter(uint32_t cbid, const CallbackData& call) {
  if (!is_on_.load(std::memory_order_acquire)) return;
  if (call.context != nullptr && call.context != context_.load(std::memory_order_relaxed)) return;
  if (lock_.IsMine()) return;
  if (!lock_.Take()) return Stop();
  if (!is_on_.load(std::memory_order_relaxed)) return lock_.Give();
  open_ = call.correlation;
  is_counting_ = false;
  const LaunchFate fate = JudgeLaunch(cbid, call, words_);
  if (fate == LaunchFate::kNotAsked) return;
  if (fate != LaunchFate::kReplayed) {
    ++refused_[size_t(fate)];
  } else if (count_ == kMost) {
    ++refused_[kTooMany];
  } else if (between_captures_.emplace(); !*between_captures_) {
    ++refused_[kInCapture];
    between_captures_.reset();
  } else {
    is_counting_ = BeginOne();
  }
}

bool LaunchReplays::BeginOne() {
  WaitForContext();
  if (session_->Start()) {
    times_[count_].begin_ticks = Ticks();
    Launch& launch = launches_[count_];
    library_.cuptiGetTimestamp(&launch.cupti_ns);
    launch.cupti_ns += kClockErrorNs;
    launch.correlation.store(open_, std::memory_order_release);
    return true;
  }
  has_failed_ = true;
  Stop();
  between_captures_.reset();
  return false;
}

void LaunchReplays::Leave(const CallbackData& call) {
  if (!lock_.IsMine() || open_ != call.correlation) return;
  if (is_counting_) EndOne(call);
  open_ = 0;
  lock_.Give();
}

// Ranges are told apart by their order, so that one too many ends the replays.
void LaunchReplays::EndOne(const CallbackData& call) {
  times_[count_].end_ticks = Ticks();
  is_counting_ = false;
  has_failed_ = !session_->Stop();
  between_captures_.reset();
  if (has_failed_) return Stop();
  const size_t ranges = session_->ranges();
  if (HasFailed(call) && ranges == count_) return;
  if (ranges == count_ + 1 && session_->has_all_passes()) {
    ++count_;
    return;
  }
  ++refused_[kWithOthers];
  Stop();
}

uint64_t LaunchReplays::BeginNs(uint32_t correlation) const {
  for (const Launch& launch : launches_) {
    if (launch.correlation.load(std::memory_order_acquire) == correlation) return launch.cupti_ns;
  }
  return 0;
}

void LaunchReplays::SayRefused() const {
  static_assert(sizeof kRefusalTexts / sizeof *kRefusalTexts == kRefusals);
  uint64_t refused = 0;
  for (size_t i = 0; i < kRefusals; ++i) {
    if (refused_[i] == 0) continue;
    refused += refused_[i];
    char what[64];
    Text words(what, sizeof what);
    words.Add("launches that were not replayed, ").Add(refused_[i]).Add(": ");
    SayCounters(what, kRefusalTexts[i]);
  }
  if (count_ == 0 && refused == 0) {
    SayCounters("no kernel was replayed: ", "none in the step has a name with words of --kernel");
  }
}

}  // namespace batchlight::inject::cupti
