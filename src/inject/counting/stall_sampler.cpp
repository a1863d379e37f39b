#include "inject/counting/stall_sampler.h"

#include <sys/prctl.h>

#include <atomic>
#include <new>

#include "counters/profiler_api.h"
#include "inject/buffer/thread_stream.h"
#include "inject/collect/loop_follower.h"
#include "inject/counting/capture_watch.h"
#include "inject/counting/common_start.h"
#include "inject/counting/gpu_modules.h"
#include "inject/counting/loop_context.h"
#include "inject/counting/stall_session.h"
#include "inject/counting/step_counters.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/helper_thread.h"
#include "inject/rt/control.h"
#include "inject/rt/job_rank.h"
#include "inject/rt/option_number.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kCollectTimeoutMs = 5000;
constexpr uint32_t kFinishTimeoutMs = 2000;
constexpr uint32_t kFlushTimeoutMs = 1000;
constexpr int64_t kNsPerMs = 1'000'000;

int64_t Now() { return sys::Nanoseconds(CLOCK_MONOTONIC); }

class StallSampler {
 public:
  bool Open(const Library& library);
  void IterationEnded(uint64_t number);
  void CaptureBegins();
  void NoteUnload() { unloads_.fetch_add(1, std::memory_order_relaxed); }
  void Finish();
  void Forget() { phase_ = Phase::kOff; }
  void RunWorker();

 private:
  enum class Phase { kOff, kIdle, kSampling };

  bool MayBegin();
  void BeginWindow();
  void StopWindow();
  void EndWindow();
  void CollectInARow();
  void TurnOff(const char* call, uint32_t result);
  void WriteWindow();
  void WriteTotals(const StallSession::Totals& totals);
  bool Synchronize();
  void WaitForWorker(uint32_t timeout_ms);
  // The worker has the session.
  bool is_collecting() const { return collecting_.load(std::memory_order_acquire) != 0; }

  const Library* library_ = nullptr;
  LoopContext loop_;
  CommonStart start_;
  StallSession* session_ = nullptr;
  Phase phase_ = Phase::kOff;
  uint64_t windows_wanted_ = 0;
  uint64_t first_iteration_ = 1;
  uint64_t share_ppm_ = 0;
  bool serialized_ = true;
  bool has_rank_ = false;
  uint64_t rank_ = 0;

  uint64_t iteration_ = 0;    // that has ended
  int64_t iteration_ns_ = 0;  // when
  int64_t usual_ns_ = 0;      // of an iteration without a window
  bool was_plain_ = false;    // nothing was switched since the last end of an iteration
  uint32_t window_ = 0;
  // Of the window that is open, or of the last one.
  uint64_t window_iteration_ = 0;
  uint64_t begin_ticks_ = 0;
  uint64_t end_ticks_ = 0;  // 0: it goes on
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t switch_ns_ = 0;
  bool is_cut_ = false;   // by a capture
  bool stopped_ = false;  // CUPTI has done it
  int64_t next_ns_ = 0;
  uint32_t unloads_before_ = 0;
  std::atomic<uint32_t> unloads_{0};
  std::atomic<uint32_t> collecting_{0};  // a futex word: 1 while the worker has the session
  bool failed_ = false;                  // of the worker's last turn
};

// Never destroyed: the worker outlives main.
alignas(StallSampler) char g_memory[sizeof(StallSampler)];
StallSampler* g_sampler = nullptr;
void (*g_others)(uint64_t) = nullptr;  // who else follows iterations

void* WorkerMain(void* user) {
  sys::Call(SYS_prctl, PR_SET_NAME, "batchlight-pcs", 0, 0, 0);
  static_cast<StallSampler*>(user)->RunWorker();
  return nullptr;
}

bool StallSampler::Open(const Library& library) {
  const char* const extra = Control()->extra;
  library_ = &library;
  windows_wanted_ = OptionNumber(extra, "stalls.windows=");
  first_iteration_ = OptionNumber(extra, "stalls.first=");
  share_ppm_ = OptionNumber(extra, "stalls.share=");
  serialized_ = OptionNumber(extra, "stalls.continuous=") == 0;
  has_rank_ = HasOption(extra, "stalls.rank=");
  rank_ = OptionNumber(extra, "stalls.rank=");
  if (!StallSession::IsPossible(library)) {
    SayCounters("stalls are not sampled: ",
                "this libcupti is older than CUDA 12.4: update the package nvidia-cuda-cupti");
    return false;
  }
  if (!StartHelperThread(WorkerMain, this)) {
    SayCounters("stalls are not sampled: ", "no helper thread could be started");
    return false;
  }
  void* const memory = sys::MapMemory(sizeof(StallSession));
  if (memory == nullptr || !PrepareModules()) return false;
  session_ = new (memory) StallSession(library);
  phase_ = Phase::kIdle;
  return true;
}

void StallSampler::TurnOff(const char* call, uint32_t result) {
  const bool has_sampled = window_ > 1;
  phase_ = Phase::kOff;
  session_->Disable();
  char why[320];
  Text words(why, sizeof why);
  if (const char* known = counters::ExplainResult(result)) {
    words.Add(known);
  } else {
    words.Add(call).Add(" of CUPTI fails with result ").Add(uint64_t{result});
  }
  SayCounters(has_sampled ? "stalls are sampled no further: " : "stalls are not sampled: ", why);
}

// CUPTI starts and stops between kernels only.
bool StallSampler::Synchronize() {
  static auto* const synchronize = reinterpret_cast<int (*)()>(DriverSymbol("cuCtxSynchronize"));
  return synchronize != nullptr && synchronize() == 0;
}

bool StallSampler::MayBegin() {
  const bool is_able = Collecting() && !IsReadingCounters() && iteration_ + 1 >= first_iteration_;
  if (share_ppm_ == 0) return is_able;
  const bool is_wanted = usual_ns_ != 0 && Now() >= next_ns_;
  if (has_rank_) return is_able && is_wanted;
  return start_.Begins(Control()->stalls_from, iteration_, is_able, is_wanted);
}

void StallSampler::IterationEnded(uint64_t number) {
  const int64_t now = Now();
  if (was_plain_ && phase_ == Phase::kIdle) usual_ns_ = now - iteration_ns_;
  iteration_ = number;
  iteration_ns_ = now;
  was_plain_ = true;
  if (phase_ == Phase::kOff || loop_.IsCapturing()) return;
  if (share_ppm_ == 0) WaitForWorker(kCollectTimeoutMs);
  if (is_collecting() || !loop_.HasContext(*library_)) return;
  if (phase_ == Phase::kSampling) {
    const BetweenCaptures between;
    if (!between) return;
    EndWindow();
  }
  if (share_ppm_ == 0) CollectInARow();
  const BetweenCaptures between;
  if (!between || is_collecting() || phase_ != Phase::kIdle) return;
  if (failed_) return TurnOff(session_->failed_call(), session_->result());
  if (!MayBegin()) return;
  if (has_rank_ && !IsOfRank(rank_)) {
    phase_ = Phase::kOff;
    return;
  }
  if (windows_wanted_ != 0 && window_ == windows_wanted_) {
    phase_ = Phase::kOff;
    session_->Disable();
    return;
  }
  BeginWindow();
}

// Whose the samples are is kept with them, whatever comes. A capture that begins meanwhile waits
// for one answer of CUPTI's at most.
void StallSampler::CollectInARow() {
  if (!is_collecting()) return;
  Flush(false, kFlushTimeoutMs);
  WaitForWorker(kCollectTimeoutMs);
}

// The kernels that follow are not run but recorded, and what is called for each of them while
// instructions are sampled might break the capture.
void StallSampler::CaptureBegins() {
  if (phase_ != Phase::kSampling || end_ticks_ != 0) return;
  is_cut_ = true;
  StopWindow();
}

void StallSampler::BeginWindow() {
  was_plain_ = false;
  if (!session_->is_enabled()) {
    counters::InitializeParams initialize{};
    if (library_->cuptiProfilerInitialize != nullptr) {
      counters::Call(library_->cuptiProfilerInitialize, initialize);
    }
    if (!Synchronize()) return;  // the program has an error to find out about
    if (!session_->Enable(loop_.context(), serialized_)) {
      return TurnOff(session_->failed_call(), session_->result());
    }
  }
  const int64_t begin_ns = Now();
  unloads_before_ = unloads_.load(std::memory_order_relaxed);
  if (!Synchronize()) return;
  ++window_;
  if (!session_->Start()) return TurnOff(session_->failed_call(), session_->result());
  phase_ = Phase::kSampling;
  window_iteration_ = iteration_ + 1;
  is_cut_ = false;
  begin_ns_ = Now();
  switch_ns_ = begin_ns_ - begin_ns;
  begin_ticks_ = Ticks();
  end_ticks_ = 0;
}

void StallSampler::StopWindow() {
  (void)Synchronize();
  end_ticks_ = Ticks();
  end_ns_ = Now();
  stopped_ = session_->Stop();
  switch_ns_ += Now() - end_ns_;
}

void StallSampler::EndWindow() {
  was_plain_ = false;
  phase_ = Phase::kIdle;
  if (end_ticks_ == 0) StopWindow();
  const int64_t longer_ns = end_ns_ - begin_ns_ - usual_ns_;
  if (share_ppm_ != 0) {
    const int64_t cost_ns = switch_ns_ + (longer_ns > 0 ? longer_ns : 0);
    next_ns_ = Now() + cost_ns / static_cast<int64_t>(share_ppm_) * 1'000'000;
  }
  WriteWindow();
  if (!stopped_) return TurnOff(session_->failed_call(), session_->result());
  collecting_.store(1, std::memory_order_release);
  sys::Call(SYS_futex, &collecting_, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

void StallSampler::WriteWindow() {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::StallWindowRecord))) return;
  stream->WriteAt(
      format::StallWindowRecord{
          .ticks = end_ticks_ - begin_ticks_,
          .window = window_,
          .device = loop_.device(),
          .context = loop_.ContextId(*library_),
          .period_log2 = session_->period_log2(),
          .iteration = window_iteration_,
          .switch_ns = static_cast<uint64_t>(switch_ns_),
          .flags = (serialized_ ? 1u : 0u) | (is_cut_ ? 2u : 0u),
          .modules_unloaded = unloads_.load(std::memory_order_relaxed) - unloads_before_},
      end_ticks_);
}

void StallSampler::WriteTotals(const StallSession::Totals& totals) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::StallTotalsRecord))) return;
  stream->Write(format::StallTotalsRecord{.window = window_,
                                          .flags = totals.buffer_full ? 1u : 0u,
                                          .samples = totals.samples,
                                          .dropped = totals.dropped,
                                          .foreign = totals.foreign});
}

void StallSampler::RunWorker() {
  while (true) {
    if (!is_collecting()) {
      sys::Call(SYS_futex, &collecting_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
      continue;
    }
    StallSession::Totals totals;
    failed_ = !session_->Collect(window_, totals);
    WriteTotals(totals);
    collecting_.store(0, std::memory_order_release);
    sys::Call(SYS_futex, &collecting_, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  }
}

void StallSampler::WaitForWorker(uint32_t timeout_ms) {
  const int64_t deadline = Now() + int64_t{timeout_ms} * kNsPerMs;
  while (is_collecting() && Now() < deadline) {
    const timespec wait{0, 5 * kNsPerMs};
    sys::Call(SYS_futex, &collecting_, FUTEX_WAIT_PRIVATE, 1, &wait, nullptr, 0);
  }
}

void StallSampler::Finish() {
  if (phase_ == Phase::kOff) return;
  WaitForWorker(kFinishTimeoutMs);
  if (!is_collecting() && failed_) return TurnOff(session_->failed_call(), session_->result());
  // A window that is open is left: the context may be gone already.
  if (window_ > 1 || (window_ == 1 && phase_ == Phase::kIdle)) return;
  // One that compiles for another, or only asks for the GPU's name, has nothing to sample.
  if (!g_collector.context_seen.load(std::memory_order_relaxed)) return;
  if (iteration_ == 0) {
    SayCounters("stalls were not sampled: ",
                "no iteration of a training loop was seen; they end with an optimizer's step, and "
                "the first 20 are needed to tell");
  } else if (iteration_ + 1 < first_iteration_) {
    SayCounters("stalls were not sampled: ",
                "the program ended before the first step that was to be sampled");
  } else {
    SayCounters("stalls were not sampled: ",
                "no iteration came to its end outside of the capture of a graph");
  }
}

void OnIteration(uint64_t number) {
  if (g_others != nullptr) g_others(number);
  g_sampler->IterationEnded(number);
}

}  // namespace

bool PrepareStallSampler(const Library& library, void* subscriber) {
  if (!HasOption(Control()->extra, "stalls.share=")) return false;
  auto* const made = new (g_memory) StallSampler;
  if (!made->Open(library)) return false;
  library.cuptiEnableCallback(1, subscriber, kResource, kModuleLoaded);
  library.cuptiEnableCallback(1, subscriber, kResource, kModuleUnloads);
  g_sampler = made;
  g_others = g_on_iteration;
  g_on_iteration = OnIteration;
  g_before_capture = [] { g_sampler->CaptureBegins(); };
  return true;
}

void OnModule(uint32_t cbid, const ModuleData& module) {
  if (g_sampler == nullptr) return;
  cbid == kModuleLoaded ? KeepModule(module) : g_sampler->NoteUnload();
}

void FinishStallSampler() {
  if (g_sampler != nullptr) g_sampler->Finish();
}

void ForgetStallSampler() {
  if (g_sampler != nullptr) g_sampler->Forget();
}

}  // namespace batchlight::inject::cupti
