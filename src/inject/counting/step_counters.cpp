#include "inject/counting/step_counters.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "inject/buffer/thread_stream.h"
#include "inject/collect/loop_follower.h"
#include "inject/counting/common_start.h"
#include "inject/counting/counter_worker.h"
#include "inject/counting/launch_ranges.h"
#include "inject/counting/launch_replays.h"
#include "inject/counting/loop_context.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/rt/control.h"
#include "inject/rt/job_rank.h"
#include "inject/rt/option_number.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kExitTimeoutMs = 1000;
// Where each kernel is measured a step takes a second anyway, and shall be the one that was named.
constexpr uint32_t kWorkerTimeoutMs = 60'000;
constexpr uint32_t kFlushTimeoutMs = 1000;

class StepCounters {
 public:
  bool Open(const Library& library, void* subscriber);
  void IterationEnded(uint64_t number);
  void OnCall(uint32_t cbid, const CallbackData& call) {
    if (launches_) launches_->OnCall(cbid, call);
    if (replays_) replays_->OnCall(cbid, call);
  }
  uint64_t ReplayedNs(uint32_t correlation) const {
    return replays_ ? replays_->BeginNs(correlation) : 0;
  }
  void Finish();
  void Forget() {
    StopLaunches();
    phase_ = Phase::kOff;
  }
  bool is_on() const { return phase_ != Phase::kOff; }

 private:
  enum class Phase {
    kOff,
    kUnprepared,
    kPreparing,
    kIdle,
    kSettling,
    kCounting,
    kEvaluating,
    kReplaying
  };

  uint32_t NextUsable(uint32_t pass) const;
  void BeginPassFrom(uint32_t pass);
  void BeginPass();
  void BeginStep();
  void EndStep();
  void EndPass();
  void EndRound();
  void BeginReplays();
  void EndReplays(uint64_t iteration);
  void StopLaunches();
  bool EvaluateNow();
  void WriteRange(uint32_t range, uint64_t iteration, uint64_t begin_ticks, uint64_t end_ticks,
                  uint64_t switch_ns);
  void TurnOff(const char* call, uint32_t result, const char* metrics = nullptr);
  void SayUnread(bool is_worker_back) const;
  uint32_t CountedKernels() const { return static_cast<uint32_t>(job_.session->ranges()); }
  // In a range of the recording.
  uint32_t KernelsOfRange() const { return replays_ ? 1 : each_kernel() ? CountedKernels() : 0; }
  bool each_kernel() const { return job_.plan->kernel_room != 0; }
  size_t KernelRoom() const;
  bool IsTooSmall();
  bool IsWanted() const { return !job_.plan->has_rank || IsOfRank(job_.plan->rank); }
  // Whether a pass begins now: where kernels are measured, with the iteration that was named.
  bool Begins(bool is_able, bool is_wanted) {
    if (each_kernel() || job_.plan->has_rank) return is_able && is_wanted;
    return start_.Begins(Control()->counters_from, iteration_, is_able, is_wanted);
  }
  // Whether the iteration that begins now comes before it.
  bool IsBefore(uint64_t iteration) const { return iteration_ + 1 < iteration; }

  CounterJob job_;
  std::optional<LaunchRanges> launches_;  // where each kernel is measured
  std::optional<LaunchReplays> replays_;  // where single ones are run again
  bool by_launch_ = false;                // this pass
  Phase phase_ = Phase::kOff;
  LoopContext loop_;
  CommonStart start_;
  uint64_t iteration_ = 0;  // that has ended
  uint32_t ranges_ = 0;     // so far
  size_t room_ = 0;         // ranges that fit into this pass
  size_t kernels_ = 0;      // of the last step whose kernels were measured
  uint64_t steps_left_ = 0;
  uint64_t begin_ticks_ = 0;   // of the step that is counted
  uint64_t switch_ns_ = 0;     // of the pass so far
  uint64_t round_ns_ = 0;      // of switching, in this round
  int64_t next_round_ns_ = 0;  // CLOCK_MONOTONIC
  bool has_counted_ = false;
  bool has_ended_a_round_ = false;
};

// Never destroyed: the worker outlives main.
alignas(StepCounters) char g_memory[sizeof(StepCounters)];
StepCounters* g_counters = nullptr;

bool StepCounters::Open(const Library& library, void* subscriber) {
  job_.library = &library;
  job_.plan = ReadCounterPlan(Control()->extra);
  if (job_.plan == nullptr) return false;
  if (!job_.api.Resolve(library.handle) || !job_.api.has_ranges()) {
    SayCounters("hardware counters are not read: ",
                "this libcupti is older than CUDA 12.6 and has no Range Profiler");
    return false;
  }
  if (!StartCounterWorker(job_)) {
    SayCounters("hardware counters are not read: ", "no helper thread could be started");
    return false;
  }
  void* const memory = sys::MapMemory(sizeof(CounterSession));
  if (memory == nullptr) return false;
  job_.session = new (memory) CounterSession(job_.api);
  if (job_.plan->replay != nullptr) {
    replays_.emplace(library, subscriber, job_.plan->replay);
  } else if (each_kernel()) {
    launches_.emplace(library, subscriber);
  }
  phase_ = Phase::kUnprepared;
  return true;
}

void StepCounters::StopLaunches() {
  if (launches_) launches_->Stop();
  if (replays_) replays_->Stop();
}

void StepCounters::TurnOff(const char* call, uint32_t result, const char* metrics) {
  StopLaunches();
  if (launches_) launches_->Close();
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
  SayCounters(
      has_counted_ ? "hardware counters are read no further: " : "hardware counters are not read: ",
      why);
}

void StepCounters::IterationEnded(uint64_t number) {
  iteration_ = number;
  if (phase_ == Phase::kOff || loop_.IsCapturing()) return;
  if (each_kernel() && !IsBefore(job_.plan->first_iteration)) {
    WaitForWorker(job_, kWorkerTimeoutMs);
  }
  if (!IsWithProgram(job_) || !loop_.HasContext(*job_.library)) return;
  job_.context = loop_.context();
  job_.device = loop_.device();
  if (job_.failed_call != nullptr)
    return TurnOff(job_.failed_call, job_.result, job_.failed_metrics);
  switch (phase_) {
    case Phase::kUnprepared:
      // A rank is known from the first iteration on: some programs set it themselves.
      phase_ = IsWanted() ? Phase::kPreparing : Phase::kOff;
      if (phase_ == Phase::kOff) return;
      GiveToWorker(job_, CounterTurn::kPrepare);
      if (each_kernel() && !IsBefore(job_.plan->first_iteration)) IterationEnded(number);
      return;
    case Phase::kPreparing:
      phase_ = Phase::kIdle;
      [[fallthrough]];
    case Phase::kIdle:
      if (!Begins(Collecting() && !IsBefore(job_.plan->first_iteration),
                  sys::Nanoseconds(CLOCK_MONOTONIC) >= next_round_ns_)) {
        return;
      }
      round_ns_ = 0;
      return replays_ ? BeginReplays() : BeginPassFrom(0);
    case Phase::kReplaying:
      return EndReplays(iteration_);
    case Phase::kSettling:
      return BeginStep();
    case Phase::kCounting:
      return EndStep();
    case Phase::kEvaluating:
      if (NextUsable(job_.pass + 1) != job_.plan->count && !Begins(true, true)) return;
      return BeginPassFrom(job_.pass + 1);
    default:
      return;
  }
}

uint32_t StepCounters::NextUsable(uint32_t pass) const {
  while (pass < job_.plan->count && !job_.usable[pass]) ++pass;
  return pass;
}

// The next that can be read; after the last one the round is over.
void StepCounters::BeginPassFrom(uint32_t pass) {
  pass = NextUsable(pass);
  if (pass == job_.plan->count) return EndRound();
  job_.pass = pass;
  BeginPass();
}

// CUPTI takes a millisecond to prepare the room for each kernel. After the first pass it is known
// how many a step has; where they did not fit, the pass is taken again.
size_t StepCounters::KernelRoom() const {
  constexpr size_t kFirstRoom = 512;
  const size_t wanted = kernels_ == 0 ? kFirstRoom : kernels_ + kernels_ / 8 + 64;
  return std::min<size_t>(job_.plan->kernel_room, wanted);
}

void StepCounters::BeginPass() {
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  CounterSession& session = *job_.session;
  steps_left_ = each_kernel() ? 1 : job_.plan->steps;
  by_launch_ = each_kernel() && launches_->has_graphs();
  const counters::RangeMode mode =
      each_kernel() && !by_launch_ ? counters::kAutoRange : counters::kUserRange;
  room_ = each_kernel() ? KernelRoom() : steps_left_;
  // A profiler that has counted keeps its first configuration, whatever it is told later: on an
  // H100 all that was new in the second one was NaN.
  session.Disable();
  const bool begun = session.Enable(job_.context) &&
                     session.Configure(job_.hosts[job_.pass], job_.plan->passes[job_.pass], mode,
                                       room_, counters::kUserReplay) &&
                     session.Start();
  if (!begun) return TurnOff(session.failed_call(), session.result());
  if (by_launch_) launches_->Begin(session, job_.context, room_);
  phase_ = each_kernel() ? Phase::kCounting : Phase::kSettling;
  job_.first_range = ranges_ + 1;
  switch_ns_ = static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
  round_ns_ += switch_ns_;
  begin_ticks_ = Ticks();
}

// Whether there was no room for some kernels of the step, and can be more: CUPTI counts those that
// come first, and says nothing.
bool StepCounters::IsTooSmall() {
  // Launches are counted beyond the room, CUPTI's own ranges are not.
  if (by_launch_ ? kernels_ <= room_ : CountedKernels() < room_) {
    if (!by_launch_) kernels_ = CountedKernels();
    return false;
  }
  if (room_ == job_.plan->kernel_room) {
    SayCounters("some kernels have no counters: a step has more than fit, which are", "", room_);
    return false;
  }
  kernels_ = std::max(kernels_, 2 * room_);
  return true;
}

// After the pause of switching the GPU has nothing queued, and waits for the first launches of the
// next step as it waits in no other: that one is not measured.
void StepCounters::BeginStep() {
  CounterSession& session = *job_.session;
  if (!session.Push()) return TurnOff(session.failed_call(), session.result());
  phase_ = Phase::kCounting;
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
    return BeginStep();
  }
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  bool ended = !by_launch_ || launches_->End(&kernels_);
  ended = session.Stop() && ended;
  const auto end_ns = static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
  switch_ns_ += end_ns;
  round_ns_ += end_ns;
  const bool met_graph = !ended && each_kernel() && !by_launch_ && launches_->has_graphs();
  if (met_graph || (ended && each_kernel() && IsTooSmall())) {
    --ranges_;
    return BeginPass();
  }
  WriteRange(ranges_, iteration_, begin_ticks, end_ticks, switch_ns_);
  if (!ended) return TurnOff(session.failed_call(), session.result());
  phase_ = Phase::kEvaluating;
  if (each_kernel()) {
    if (EvaluateNow()) BeginPassFrom(job_.pass + 1);
  } else {
    GiveToWorker(job_, CounterTurn::kEvaluate);
  }
}

// Whose the counters are is kept with them, whatever comes.
bool StepCounters::EvaluateNow() {
  GiveToWorker(job_, CounterTurn::kEvaluate);
  Flush(false, kFlushTimeoutMs);
  WaitForWorker(job_, kWorkerTimeoutMs);
  if (!IsWithProgram(job_)) return false;
  if (job_.failed_call == nullptr) return true;
  TurnOff(job_.failed_call, job_.result, job_.failed_metrics);
  return false;
}

// From here on launches of the next iteration are replayed.
void StepCounters::BeginReplays() {
  const int64_t begin_ns = sys::Nanoseconds(CLOCK_MONOTONIC);
  job_.pass = NextUsable(0);
  if (job_.pass == job_.plan->count) return EndRound();
  CounterSession& session = *job_.session;
  const bool begun =
      session.Enable(job_.context) &&
      session.Configure(job_.hosts[job_.pass], job_.plan->passes[job_.pass], counters::kAutoRange,
                        LaunchReplays::kRoom, counters::kKernelReplay);
  if (!begun) return TurnOff(session.failed_call(), session.result());
  phase_ = Phase::kReplaying;
  switch_ns_ = static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin_ns);
  replays_->Begin(session, job_.context);
}

void StepCounters::EndReplays(uint64_t iteration) {
  CounterSession& session = *job_.session;
  size_t count = 0;
  const bool ended = replays_->End(&count);
  has_counted_ = count != 0;
  job_.first_range = ranges_ + 1;
  for (size_t i = 0; i < count; ++i) {
    const LaunchReplays::Time& time = replays_->time(i);
    WriteRange(++ranges_, iteration, time.begin_ticks, time.end_ticks, i == 0 ? switch_ns_ : 0);
  }
  phase_ = Phase::kOff;
  if (has_counted_ && !EvaluateNow()) return;
  if (!ended) return TurnOff(session.failed_call(), session.result());
  replays_->SayRefused();
  session.Disable();
}

// Without counters the next round waits until this one's switching is a small part of the time.
void StepCounters::EndRound() {
  job_.session->Disable();
  has_ended_a_round_ = true;
  if (job_.plan->share_ppm == 0 || !has_counted_) {
    if (launches_) launches_->Close();
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
  const uint32_t context = loop_.ContextId(*job_.library);
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
                                             .kernels = KernelsOfRange(),
                                             .iteration = iteration,
                                             .counter_set = name,
                                             .switch_ns = switch_ns},
                  end_ticks);
}

// The program ends in the first round: which passes nobody has values of.
void StepCounters::SayUnread(bool is_worker_back) const {
  const CounterPlan& plan = *job_.plan;
  const bool is_read = phase_ == Phase::kEvaluating && is_worker_back;
  const uint32_t first = NextUsable(is_read ? job_.pass + 1 : job_.pass);
  if (has_ended_a_round_ || first == plan.count) return;
  char sets[160];
  Text words(sets, sizeof sets);
  for (uint32_t pass = first; pass < plan.count; ++pass) {
    const char* const set = plan.passes[pass].set;
    if (pass > first && std::strcmp(set, plan.passes[pass - 1].set) == 0) continue;
    words.Add(pass == first ? "" : ", ").Add(set);
  }
  char what[320];
  Text text(what, sizeof what);
  text.Add("the program ended before all counters were read: missing is pass ").Add(first + 1);
  if (first + 1 < plan.count) text.Add(" to ").Add(plan.count);
  text.Add(" of ").Add(plan.count).Add(", ");
  SayCounters(what, sets);
}

void StepCounters::Finish() {
  if (phase_ == Phase::kOff) return;
  if (phase_ == Phase::kReplaying) return EndReplays(iteration_ + 1);
  StopLaunches();
  WaitForWorker(job_, kExitTimeoutMs);
  const bool is_worker_back = IsWithProgram(job_);
  if (is_worker_back && job_.failed_call != nullptr) {
    return TurnOff(job_.failed_call, job_.result, job_.failed_metrics);
  }
  if (has_counted_ || phase_ == Phase::kSettling || phase_ == Phase::kCounting) {
    return SayUnread(is_worker_back);
  }
  // One that compiles for another, or only asks for the GPU's name, has nothing to count.
  if (!g_collector.context_seen.load(std::memory_order_relaxed)) return;
  if (iteration_ == 0) {
    SayCounters(
        "hardware counters were not read: ",
        "no iteration of a training loop was seen; they end with an optimizer's step, and the "
        "first "
        "20 are needed to tell");
  } else if (IsBefore(job_.plan->first_iteration)) {
    SayCounters("hardware counters were not read: ",
                "the program ended before the first step that was to be measured");
  } else if (phase_ == Phase::kPreparing) {
    SayCounters("hardware counters were not read: ",
                "the program ended before they were prepared, which takes about a second");
  } else {
    SayCounters("hardware counters were not read: ",
                "all steps were part of the capture of a graph, or they had no CUDA context");
  }
}

void OnIteration(uint64_t number) { g_counters->IterationEnded(number); }

}  // namespace

bool PrepareStepCounters(const Library& library, void* subscriber) {
  if (!HasOption(Control()->extra, "counters.pass=")) return false;
  auto* const made = new (g_memory) StepCounters;
  if (!made->Open(library, subscriber)) return false;
  g_counters = made;
  g_on_iteration = OnIteration;
  return true;
}

void OnLaunchCall(uint32_t cbid, const CallbackData& call) {
  if (g_counters != nullptr) g_counters->OnCall(cbid, call);
}

uint64_t ReplayedNs(uint32_t correlation) {
  return g_counters != nullptr ? g_counters->ReplayedNs(correlation) : 0;
}

void FinishStepCounters() {
  if (g_counters != nullptr) g_counters->Finish();
}

bool IsReadingCounters() { return g_counters != nullptr && g_counters->is_on(); }

void ForgetStepCounters() {
  if (g_counters != nullptr) g_counters->Forget();
}

}  // namespace batchlight::inject::cupti
