#include "inject/cupti/step_counters.h"

#include <cstring>
#include <new>

#include "inject/buffer/facts.h"
#include "inject/collect/loop_follower.h"
#include "inject/cupti/counter_worker.h"
#include "inject/rt/option_number.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kExitTimeoutMs = 1000;

void Say(const char* what, const char* why, uint64_t number = 0) {
  char text[512];
  Text words(text, sizeof text);
  words.Add(what).Add(why);
  if (number != 0) words.Add(" ").Add(number);
  Guard guard;
  if (guard) Reason(guard, "counters", text);
}

class StepCounters {
 public:
  bool Open(const Library& library);
  void IterationEnded();
  void Finish();
  void NoteGraphNode() { nodes_made_.fetch_add(1, std::memory_order_relaxed); }
  void Forget() { phase_ = Phase::kOff; }

 private:
  enum class Phase { kOff, kUnprepared, kPreparing, kIdle, kCounting, kEvaluating };

  bool IsCapturing();
  bool HasContext();
  void BeginPassFrom(uint32_t pass);
  void BeginPass();
  void EndStep();
  void EndPass();
  void EndRound();
  void WriteRange(uint32_t range, uint64_t iteration, uint64_t begin_ticks, uint64_t end_ticks,
                  uint64_t switch_ns);
  void TurnOff(const char* call, uint32_t result, const char* metrics = nullptr);
  uint32_t CountedKernels() const { return static_cast<uint32_t>(job_.session->ranges()); }
  bool each_kernel() const { return job_.plan->kernel_room != 0; }

  CounterJob job_;
  Phase phase_ = Phase::kOff;
  std::atomic<uint64_t> nodes_made_{0};  // of graphs
  uint64_t nodes_seen_ = 0;
  uint64_t iteration_ = 0;  // that have ended
  uint32_t ranges_ = 0;     // so far
  uint64_t steps_left_ = 0;
  uint64_t begin_ticks_ = 0;   // of the step that is counted
  uint64_t switch_ns_ = 0;     // of the pass so far
  uint64_t round_ns_ = 0;      // of switching, in this round
  int64_t next_round_ns_ = 0;  // CLOCK_MONOTONIC
  bool has_counted_ = false;
};

// Never destroyed: the worker outlives main.
alignas(StepCounters) char g_memory[sizeof(StepCounters)];
StepCounters* g_counters = nullptr;

bool StepCounters::Open(const Library& library) {
  job_.library = &library;
  job_.plan = ReadCounterPlan(Control()->extra);
  if (job_.plan == nullptr) return false;
  if (!job_.api.Resolve(library.handle) || !job_.api.has_ranges()) {
    Say("hardware counters are not read: ",
        "this libcupti is older than CUDA 12.6 and has no Range Profiler");
    return false;
  }
  if (!StartCounterWorker(job_)) {
    Say("hardware counters are not read: ", "no helper thread could be started");
    return false;
  }
  void* const memory = sys::MapMemory(sizeof(CounterSession));
  if (memory == nullptr) return false;
  job_.session = new (memory) CounterSession(job_.api);
  phase_ = Phase::kUnprepared;
  return true;
}

void StepCounters::TurnOff(const char* call, uint32_t result, const char* metrics) {
  phase_ = Phase::kOff;
  job_.session->Disable();
  char why[320];
  Text words(why, sizeof why);
  if (const char* known = counters::ExplainResult(result)) {
    words.Add(known);
  } else {
    words.Add(call).Add(" of CUPTI fails with result ").Add(uint64_t{result});
    if (metrics != nullptr) words.Add(", at ").Add(metrics);
  }
  Say(has_counted_ ? "hardware counters are read no further: " : "hardware counters are not read: ",
      why);
}

// Whether the iteration that ends made nodes of a graph. Where it is the loop itself that is
// captured, any call of CUPTI's would break the capture.
bool StepCounters::IsCapturing() {
  const uint64_t made = nodes_made_.load(std::memory_order_relaxed);
  const bool capturing = made != nodes_seen_;
  nodes_seen_ = made;
  return capturing;
}

bool StepCounters::HasContext() {
  static auto* const current = reinterpret_cast<int (*)(void**)>(DriverSymbol("cuCtxGetCurrent"));
  void* context = nullptr;
  if (current == nullptr || current(&context) != 0 || context == nullptr) return false;
  if (job_.context == nullptr) {
    job_.context = context;
    if (job_.library->cuptiGetDeviceId != nullptr) {
      job_.library->cuptiGetDeviceId(context, &job_.device);
    }
  }
  return context == job_.context;
}

void StepCounters::IterationEnded() {
  ++iteration_;
  if (phase_ == Phase::kOff || IsCapturing() || !IsWithProgram(job_) || !HasContext()) return;
  if (job_.failed_call != nullptr)
    return TurnOff(job_.failed_call, job_.result, job_.failed_metrics);
  switch (phase_) {
    case Phase::kUnprepared:
      phase_ = Phase::kPreparing;
      return GiveToWorker(job_, CounterTurn::kPrepare);
    case Phase::kPreparing:
      phase_ = Phase::kIdle;
      [[fallthrough]];
    case Phase::kIdle:
      if (!Collecting() || iteration_ < job_.plan->first_iteration ||
          sys::Nanoseconds(CLOCK_MONOTONIC) < next_round_ns_) {
        return;
      }
      round_ns_ = 0;
      return BeginPassFrom(0);
    case Phase::kCounting:
      return EndStep();
    case Phase::kEvaluating:
      return BeginPassFrom(job_.pass + 1);
    default:
      return;
  }
}

// The next that can be read; after the last one the round is over.
void StepCounters::BeginPassFrom(uint32_t pass) {
  while (pass < job_.plan->count && !job_.usable[pass]) ++pass;
  if (pass == job_.plan->count) return EndRound();
  job_.pass = pass;
  BeginPass();
}

void StepCounters::BeginPass() {
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  CounterSession& session = *job_.session;
  steps_left_ = each_kernel() ? 1 : job_.plan->steps;
  const counters::RangeMode mode = each_kernel() ? counters::kAutoRange : counters::kUserRange;
  const size_t room = each_kernel() ? job_.plan->kernel_room : steps_left_;
  const bool begun =
      (session.is_enabled() || session.Enable(job_.context)) &&
      session.Begin(job_.hosts[job_.pass], job_.plan->passes[job_.pass], mode, room) &&
      (each_kernel() || session.Push());
  if (!begun) return TurnOff(session.failed_call(), session.result());
  phase_ = Phase::kCounting;
  job_.first_range = ranges_ + 1;
  switch_ns_ = static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
  begin_ticks_ = Ticks();
}

void StepCounters::EndStep() {
  CounterSession& session = *job_.session;
  if (!each_kernel() && !session.Pop()) return TurnOff(session.failed_call(), session.result());
  const uint64_t end_ticks = Ticks();
  const uint64_t begin_ticks = begin_ticks_;
  ++ranges_;
  has_counted_ = true;
  if (--steps_left_ != 0) {
    WriteRange(ranges_, iteration_, begin_ticks, end_ticks, switch_ns_);
    switch_ns_ = 0;
    if (!session.Push()) return TurnOff(session.failed_call(), session.result());
    begin_ticks_ = Ticks();
    return;
  }
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  const bool ended = session.End();
  switch_ns_ += static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
  round_ns_ += switch_ns_;
  WriteRange(ranges_, iteration_, begin_ticks, end_ticks, switch_ns_);
  if (!ended) return TurnOff(session.failed_call(), session.result());
  if (session.dropped() != 0) {
    Say("some kernels have no counters: the step had more than fit, by", "", session.dropped());
  }
  phase_ = Phase::kEvaluating;
  GiveToWorker(job_, CounterTurn::kEvaluate);
}

// Without counters the next round waits until this one's switching is a small part of the time.
void StepCounters::EndRound() {
  job_.session->Disable();
  if (job_.plan->share_ppm == 0 || !has_counted_) {
    phase_ = Phase::kOff;
    return;
  }
  constexpr uint64_t kMillion = 1'000'000;
  next_round_ns_ = sys::Nanoseconds(CLOCK_MONOTONIC) +
                   static_cast<int64_t>(round_ns_ / job_.plan->share_ppm * kMillion);
  phase_ = Phase::kIdle;
}

void StepCounters::WriteRange(uint32_t range, uint64_t iteration, uint64_t begin_ticks,
                              uint64_t end_ticks, uint64_t switch_ns) {
  uint32_t context = 0;
  if (job_.library->cuptiGetContextId != nullptr) {
    job_.library->cuptiGetContextId(job_.context, &context);
  }
  const char* const set = job_.plan->passes[job_.pass].set;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  const size_t bytes = std::strlen(set);
  if (stream == nullptr ||
      !stream->Ensure(sizeof(format::CounterRangeRecord) + StringBytes(bytes))) {
    return;
  }
  const format::StringRef name = stream->Intern(set, bytes);
  stream->WriteAt(format::CounterRangeRecord{.ticks = end_ticks - begin_ticks,
                                             .range = range,
                                             .device = job_.device,
                                             .context = context,
                                             .kernels = each_kernel() ? CountedKernels() : 0,
                                             .iteration = iteration,
                                             .counter_set = name,
                                             .switch_ns = switch_ns},
                  end_ticks);
}

void StepCounters::Finish() {
  if (phase_ == Phase::kOff) return;
  WaitForWorker(job_, kExitTimeoutMs);
  if (has_counted_ || job_.failed_call != nullptr || !IsWithProgram(job_)) {
    if (IsWithProgram(job_) && job_.failed_call != nullptr) {
      TurnOff(job_.failed_call, job_.result, job_.failed_metrics);
    }
    return;
  }
  if (iteration_ == 0) {
    Say("hardware counters were not read: ",
        "no iteration of a training loop was seen; they end with an optimizer's step, and the "
        "first "
        "few are needed to tell");
  } else if (iteration_ <= job_.plan->first_iteration) {
    Say("hardware counters were not read: ",
        "the program ended before the first step that was to be measured");
  } else if (phase_ == Phase::kPreparing) {
    Say("hardware counters were not read: ",
        "the program ended before they were prepared, which takes about a second");
  } else {
    Say("hardware counters were not read: ",
        "all steps were part of the capture of a graph, or they had no CUDA context");
  }
}

void OnIteration() { g_counters->IterationEnded(); }

}  // namespace

void PrepareStepCounters(const Library& library) {
  if (!HasOption(Control()->extra, "counters.pass=")) return;
  auto* const made = new (g_memory) StepCounters;
  if (!made->Open(library)) return;
  g_counters = made;
  g_on_iteration = OnIteration;
}

void NoteGraphNode() {
  if (g_counters != nullptr) g_counters->NoteGraphNode();
}

void FinishStepCounters() {
  if (g_counters != nullptr) g_counters->Finish();
}

void ForgetStepCounters() {
  if (g_counters != nullptr) g_counters->Forget();
}

}  // namespace batchlight::inject::cupti
