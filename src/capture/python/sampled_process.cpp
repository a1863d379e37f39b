#include "capture/python/sampled_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// So that a killed recording lacks no more than that of a thread that waits.
constexpr uint64_t kLongestNs = 1'000'000'000;
// A thread that calls and returns is found between two functions now and then, which a read some
// microseconds later is not.
constexpr int kMostReads = 4;
// Looks that another one may stand for: where a thread moves in all of them, nothing is known.
constexpr int kMostMoved = 5;
// A look whose stack ends elsewhere than the one before counts for so many that end there, and from
// so many on all are believed: four in a row, or about a fifth of all in the long run. What yields
// is met so in one of 30.
constexpr int kElsewhere = 4;
constexpr int kOftenElsewhere = 16;
constexpr int kMostElsewhere = 24;
// A page may be away once. A program that became another one by exec is read no more.
constexpr int kMostFailures = 20;

void CountElsewhere(bool is_elsewhere, int& looks) {
  looks = is_elsewhere ? std::min(looks + kElsewhere, kMostElsewhere) : std::max(looks - 1, 0);
}

}  // namespace

bool SampledProcess::Look(PythonLog& log, CpuLimit& limit) {
  if (!reader_.ReadThreads(found_)) return errno == EFAULT && ++failures_ <= kMostFailures;
  failures_ = 0;
  ++look_;
  LookAtGil(limit);
  const int64_t begin_ns = MonotonicNow();
  for (const PythonThread& found : found_) {
    if (limit.IsReached()) return true;
    if (found.tid == 0) continue;
    Thread& thread = threads_[found.tid];
    const bool is_new = thread.look == 0;
    thread.look = look_;
    if (is_new) thread.scheduled = ScheduledOf(found.tid, thread);
    if (thread.last_ns == 0) thread.last_ns = begin_ns;
    LookAt(found, thread, log);
  }
  for (auto place = threads_.begin(); place != threads_.end();) {
    if (place->second.look == look_) {
      ++place;
      continue;
    }
    Write(place->second, log);
    place = threads_.erase(place);
  }
  return true;
}

std::string SampledProcess::PathOf(uint32_t tid, const char* file) const {
  return "/proc/" + std::to_string(reader_.memory().pid()) + "/task/" + std::to_string(tid) + file;
}

// Where nobody waits, nothing is known of who has it.
void SampledProcess::LookAtGil(CpuLimit& limit) {
  gil_holder_ = 0;
  bool any_waits = false;
  for (auto& [tid, thread] : threads_) thread.gil = GilState::kUnknown;
  if (found_.size() < 2 || !reader_.HasGil()) return;
  for (const PythonThread& found : found_) {
    if (limit.IsReached()) break;
    if (found.tid == 0) continue;
    Thread& thread = threads_[found.tid];
    const GilWatch::Holder holder = WaitOf(found.tid, thread);
    if (!holder.found) continue;
    thread.gil = GilState::kWaits;
    any_waits = true;
    if (holder.tid != 0) gil_holder_ = holder.tid;
  }
  if (!any_waits || gil_holder_ == 0) return;
  for (auto& [tid, thread] : threads_) {
    if (thread.gil == GilState::kWaits) continue;
    thread.gil = tid == gil_holder_ ? GilState::kHolds : GilState::kApart;
  }
}

GilWatch::Holder SampledProcess::WaitOf(uint32_t tid, Thread& thread) {
  if (!thread.syscall.is_open()) thread.syscall = KernelFile(PathOf(tid, "/syscall"));
  std::array<char, 192> text{};
  thread.syscall.Read().copy(text.data(), text.size() - 1);
  const uint64_t futex = FutexOf(text.data());
  return futex == 0 ? GilWatch::Holder{} : gil_.Find(reader_.memory(), futex, found_);
}

void SampledProcess::LookAt(const PythonThread& found, Thread& thread, PythonLog& log) {
  const Scheduled scheduled = ScheduledOf(found.tid, thread);
  const uint64_t ran_ns = scheduled.ran_ns - thread.scheduled.ran_ns;
  const uint64_t ready_ns = scheduled.ready_ns - thread.scheduled.ready_ns;
  const Sight sight = See(found, thread, ran_ns > 0);
  if (sight == Sight::kMoved && ++thread.moved <= kMostMoved) return;
  thread.moved = 0;
  thread.scheduled = scheduled;
  // Of the moment of reading: the tool may have waited for a processor before.
  const int64_t from_ns = std::exchange(thread.last_ns, MonotonicNow());
  if (sight != Sight::kSeen) return Write(thread, log);
  const uint32_t holder = thread.gil == GilState::kWaits ? gil_holder_ : 0;
  const bool is_same = thread.lasts && (frames_.empty() || frames_ == thread.frames) &&
                       thread.sample.gil == static_cast<uint32_t>(thread.gil) &&
                       thread.sample.gil_holder == holder;
  if (!is_same || thread.sample.wall_ns >= kLongestNs) {
    Write(thread, log);
    if (!frames_.empty() && frames_ != thread.frames) {
      thread.frames.swap(frames_);
      thread.named.swap(named_);
    }
    thread.lasts = true;
    thread.start_ns = from_ns;
    thread.sample = {.pid = static_cast<uint32_t>(reader_.memory().pid()),
                     .tid = found.tid,
                     .gil = static_cast<uint32_t>(thread.gil),
                     .gil_holder = holder};
  }
  ++thread.sample.samples;
  thread.sample.wall_ns += static_cast<uint64_t>(thread.last_ns - from_ns);
  thread.sample.cpu_ns += ran_ns;
  thread.sample.ready_ns += ready_ns;
}

SampledProcess::Sight SampledProcess::See(PythonThread found, Thread& thread, bool ran) {
  bool runs_python = false;  // the way to the innermost frame breaks off now and then, too
  uint64_t doubted = 0;
  for (int reads = 1;; ++reads) {
    frames_.clear();
    runs_python = runs_python || found.innermost != 0 || found.enters;
    PythonFrame top;
    uint64_t outermost = thread.outermost;
    if (found.innermost != 0 && ReadStack(found, thread, ran, top, outermost)) {
      const bool is_whole =
          outermost == thread.outermost || outermost == 0 || thread.elsewhere >= kOftenElsewhere ||
          (reads == kMostReads && (outermost == thread.doubted || thread.outermost == 0));
      const bool is_known = frames_.empty() || frames_ == thread.frames;
      if (is_whole && (is_known || names_.Name(reader_, frames_, named_))) {
        Believe(found, top, outermost, thread);
        return Sight::kSeen;
      }
      doubted = is_whole ? 0 : outermost;
    }
    // A thread that did not run is in no Python the next time either: one of autograd that waits.
    if (!ran && found.innermost == 0 && !found.enters) break;
    if (reads == kMostReads || !reader_.ReadAgain(found)) break;
  }
  if (doubted != 0) {
    thread.doubted = doubted;
    CountElsewhere(true, thread.elsewhere);
  }
  if (runs_python) return Sight::kMoved;
  thread.outermost = thread.doubted = 0;
  CountElsewhere(false, thread.elsewhere);
  return Sight::kNoPython;
}

void SampledProcess::Believe(const PythonThread& found, const PythonFrame& top, uint64_t outermost,
                             Thread& thread) {
  CountElsewhere(outermost != thread.outermost && outermost != 0, thread.elsewhere);
  thread.innermost = found.innermost;
  thread.top = top;
  thread.outermost = outermost;
  thread.doubted = 0;
}

bool SampledProcess::ReadStack(const PythonThread& found, const Thread& thread, bool ran,
                               PythonFrame& top, uint64_t& outermost) {
  if (!reader_.ReadInnermost(found.innermost, top)) return false;
  const bool stays =
      !ran && thread.lasts && found.innermost == thread.innermost && top == thread.top;
  if (stays) return true;
  return reader_.ReadFrames(found.innermost, frames_, outermost) && !frames_.empty();
}

SampledProcess::Scheduled SampledProcess::ScheduledOf(uint32_t tid, Thread& thread) const {
  if (!thread.schedule.is_open()) thread.schedule = KernelFile(PathOf(tid, "/schedstat"));
  std::string_view text = thread.schedule.Read();
  const uint64_t ran_ns = TakeNumber(text);
  const uint64_t ready_ns = TakeNumber(text);
  return {.ran_ns = std::max(ran_ns, thread.scheduled.ran_ns),
          .ready_ns = std::max(ready_ns, thread.scheduled.ready_ns)};
}

void SampledProcess::Write(Thread& thread, PythonLog& log) {
  if (thread.lasts && thread.sample.wall_ns > 0) {
    log.Add(thread.sample, thread.named, thread.start_ns);
  }
  thread.lasts = false;
}

void SampledProcess::Flush(PythonLog& log) {
  for (auto& [tid, thread] : threads_) {
    Write(thread, log);
    thread.last_ns = 0;
  }
}

}  // namespace batchlight::capture
