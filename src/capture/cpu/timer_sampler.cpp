#include "capture/cpu/timer_sampler.h"

#include <algorithm>
#include <chrono>

#include "base/contain.h"
#include "base/kernel_text.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr size_t kTimerFrames = 512;
// As CpuRecorder's: seconds at most, of a program that means harm.
constexpr uint64_t kTimerWork = 16 << 20;
constexpr auto kTimerRound = std::chrono::milliseconds(20);
// A job of days starts millions of threads.
constexpr size_t kMostTimedThreads = 1 << 16;

}  // namespace

Result<std::unique_ptr<TimerSampler>> TimerSampler::Open(const CpuOptions& options,
                                                         const LiveFolder& live_folder) {
  ASSIGN_OR_RETURN(TimerSlots slots, TimerSlots::Create(live_folder, options));
  ASSIGN_OR_RETURN(CpuLog log, CpuLog::Create(live_folder, kCpuFile, 1));
  return std::unique_ptr<TimerSampler>(new TimerSampler(options, std::move(slots), std::move(log)));
}

Status TimerSampler::Start() {
  return thread_.Start("taking CPU samples", mutex_, kTimerRound, [this] { Round(); });
}

void TimerSampler::Round() {
  if (!failed_.ok()) return;
  failed_ = Contain("taking CPU samples", [this]() -> Status {
    work_left_ = kTimerWork;
    for (const TakenSample& taken : slots_.Take()) AddSample(taken);
    return {};
  });
}

void TimerSampler::SetCapture(uint32_t capture_index) {
  const std::lock_guard lock(mutex_);
  Round();
  capture_index_ = capture_index;
  log_.SetCapture(capture_index);
}

Status TimerSampler::Finish(uint32_t capture_index) {
  const std::lock_guard lock(mutex_);
  Round();
  log_.SetCapture(capture_index);
  if (slots_.dropped() > 0) {
    log_.AddCounter(format::Counter::kCpuEventsDropped, slots_.dropped(), last_ns_);
  }
  Status named;
  if (options_.resolve_symbols) {
    named = Contain("naming sampled functions", [this]() -> Status {
      log_.AddNames(false, last_ns_);
      return {};
    });
  }
  log_.SetCapture(capture_index_);
  return failed_.ok() ? named : failed_;
}

std::vector<std::pair<std::string, std::string>> TimerSampler::Facts() const {
  return {{"sampling.period_ns", std::to_string(options_.period_ns)},
          {"sampling.kernel", "no"},
          {"sampling.backtrace", NameOf(options_.backtrace)},
          {"sampling.by", "timers"}};
}

std::string TimerSampler::Unseen() const {
  const uint32_t without = slots_.threads_without();
  if (without == 0) return "";
  return std::to_string(without) + (without == 1 ? " thread" : " threads") +
         " had no timer: CPU samples are without " + (without == 1 ? "it" : "them") +
         " (a thread that blocks SIGURG, or more than a process or `ulimit -i` allows)";
}

void TimerSampler::AddSample(const TakenSample& taken) {
  last_ns_ = std::max(last_ns_, taken.at_ns);
  if (samples_.size() >= kMostTimedThreads) samples_.clear();
  const uint32_t before = samples_[{taken.pid, taken.tid}]++;
  NameThread(taken.pid, taken.tid, before);
  format::CpuSampleRecord sample{};
  sample.pid = taken.pid;
  sample.tid = taken.tid;
  sample.cpu = taken.cpu;
  sample.cpu_ns = taken.cpu_ns;
  frames_.clear();
  AddFrames(taken, sample);
  if (options_.samples_per_stack > 1 && before % options_.samples_per_stack != 0) {
    frames_.resize(1);
  }
  log_.AddSample(sample, frames_, last_ns_);
}

// What was mapped since the maps were read is found by reading them again.
void TimerSampler::AddFrames(const TakenSample& taken, format::CpuSampleRecord& sample) {
  const int64_t now_ns = MonotonicNow();
  (void)code_.Of(taken.pid, taken.image_ns, taken.unloads, now_ns);
  if (!Walk(taken, sample) && code_.Renew(taken.pid, taken.unloads, now_ns))
    (void)Walk(taken, sample);
  for (const native::CodePlace& place : places_) frames_.push_back({place});
}

bool TimerSampler::Walk(const TakenSample& taken, format::CpuSampleRecord& sample) {
  const native::AddressSpace& space =
      code_.Of(taken.pid, taken.image_ns, taken.unloads, MonotonicNow());
  const native::StackCopy stack(taken.stack, taken.registers.values[native::kStackPointer]);
  constexpr auto kLost = static_cast<uint32_t>(native::WalkEnd::kNoTables);
  places_.clear();
  if (options_.backtrace == Backtrace::kNone) {
    native::CodePlace place{nullptr, taken.registers.pc};
    (void)space.Find(taken.registers.pc, &place);
    places_.push_back(place);
  } else {
    sample.stack_end = static_cast<uint32_t>(
        WalkStack(space, taken.registers, stack, kTimerFrames, places_, work_left_));
  }
  return sample.stack_end != kLost &&
         std::none_of(places_.begin(), places_.end(),
                      [](const native::CodePlace& place) { return place.module == nullptr; });
}

// Threads name themselves some time after they began.
void TimerSampler::NameThread(uint32_t pid, uint32_t tid, uint32_t samples) {
  if (samples != 0 && samples != 8 && samples != 64 && samples != 512) return;
  const std::string name =
      FirstLineOf("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
  if (name.empty()) return;
  log_.AddThread({.pid = pid, .tid = tid, .what = kThreadNamed}, name, last_ns_);
}

}  // namespace batchlight::capture
