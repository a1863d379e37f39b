#include "capture/usage/usage_sampler.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr int64_t kPeriodNs = 100'000'000;
constexpr uint64_t kSeldom = 10;  // looks until one that asks for what hardly changes

}  // namespace

Result<std::unique_ptr<UsageSampler>> UsageSampler::Open(EventLoop& loop,
                                                         const ProcessWatch& processes,
                                                         const LiveFolder& live_folder,
                                                         pid_t program, std::string library) {
  ASSIGN_OR_RETURN(UsageLog log, UsageLog::Create(live_folder));
  std::unique_ptr<UsageSampler> sampler(
      new UsageSampler(loop, processes, std::move(log), program, std::move(library)));
  sampler->timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (sampler->timer_fd_ < 0) return OutputError(std::string("no timer: ") + std::strerror(errno));
  loop.Add(sampler->timer_fd_, [sampler = sampler.get()] { sampler->TimerRang(); });
  return sampler;
}

UsageSampler::~UsageSampler() {
  if (timer_fd_ < 0) return;
  loop_.Remove(timer_fd_);
  close(timer_fd_);
}

void UsageSampler::SetTimer(bool on) {
  constexpr itimerspec kEvery{{0, kPeriodNs}, {0, kPeriodNs}};
  constexpr itimerspec kNever{};
  timerfd_settime(timer_fd_, 0, on ? &kEvery : &kNever, nullptr);
}

void UsageSampler::SetCapture(uint32_t capture_index, bool collecting) {
  if (collecting == collecting_ && capture_index == capture_index_) return;
  tells_all_ = true;
  if (collecting_) Look();  // the last of what was before
  log_.SetCapture(capture_index);
  capture_index_ = capture_index;
  collecting_ = collecting;
  SetTimer(collecting);
  tells_all_ = true;
  if (collecting_) Look();
}

void UsageSampler::TimerRang() {
  uint64_t times = 0;
  (void)!read(timer_fd_, &times, sizeof times);
  LookIfDue();
}

void UsageSampler::LookIfDue() {
  if (collecting_ && MonotonicNow() >= next_ns_) Look();
}

void UsageSampler::Look() {
  const int64_t before_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID);
  const int64_t now_ns = MonotonicNow();
  const bool again = tells_all_ || looks_++ % kSeldom == 0;
  FindProcesses(again);
  LookAtProcesses(again, now_ns);
  format::MachineUsageRecord machine;
  machine_.Read(machine);
  log_.Add(machine, now_ns);
  network_.Read(tells_all_,
                [&](pid_t pid, std::string_view interface, const InterfaceBytes& bytes) {
                  format::NetworkUsageRecord usage{};
                  usage.pid = static_cast<uint32_t>(pid);
                  usage.received_bytes = bytes.received;
                  usage.sent_bytes = bytes.sent;
                  log_.Add(usage, interface, now_ns);
                });
  tells_all_ = false;
  next_ns_ = now_ns + pace_.LeastWaitNs(ClockNow(CLOCK_THREAD_CPUTIME_ID) - before_ns);
}

void UsageSampler::Follow(pid_t pid) {
  if (followed_.try_emplace(pid, pid).second) network_.AddProcess(pid);
}

void UsageSampler::FindProcesses(bool again) {
  recorded_ = processes_.AlivePids();
  for (const pid_t pid : recorded_) Follow(pid);
  // Which may be none that is recorded: a static one. Once it is gone, its number may be another's.
  if (!program_ended_) Follow(program_);
  if (!again) return;
  std::vector<pid_t> children;
  for (auto& [pid, process] : followed_) process.counts.AddChildren(children);
  for (const pid_t pid : children) Follow(pid);  // theirs: the next time
}

void UsageSampler::LookAtProcesses(bool again, int64_t now_ns) {
  const std::unordered_set<pid_t> speaks(recorded_.begin(), recorded_.end());
  std::vector<std::pair<Followed*, format::ProcessUsageRecord>> read;
  std::vector<pid_t> gone;
  for (auto& [pid, process] : followed_) {
    format::ProcessUsageRecord usage;
    const bool is_first = process.last.pid == 0;
    if (process.counts.Read(again || is_first, usage)) {
      if (!speaks.contains(pid) && process.written_name != process.counts.name()) {
        process.written_name = process.counts.name();
        log_.AddName(pid, process.counts.parent(), process.written_name, now_ns);
      }
      if (usage.resident_bytes > 0) unreached_.LookAt(pid, process.counts.name(), again);
      if (is_first) process.first = {usage.user_ns, usage.system_ns};
      read.emplace_back(&process, usage);
      continue;
    }
    program_ended_ = program_ended_ || pid == program_;
    unreached_.Forget(pid);
    gone.push_back(pid);
  }
  // Children before those that have waited for them: of a script that ended with its program.
  for (size_t i = gone.size(); i-- > 0;) TellParent(followed_.at(gone[i]));
  for (const pid_t pid : gone) followed_.erase(pid);
  // Once it is known which are gone: who has waited for them has their time.
  for (auto& [process, usage] : read) {
    const ProcessorTimes& waited_for = process->counts.waited_for();
    usage.user_ns += process->children_user.Untold(waited_for.user_ns);
    usage.system_ns += process->children_system.Untold(waited_for.system_ns);
    Take(usage, now_ns, *process);
  }
}

void UsageSampler::TellParent(const Followed& process) {
  const auto parent = followed_.find(process.counts.parent());
  if (parent == followed_.end() || process.last.pid == 0) return;
  parent->second.children_user.Told(process.last.user_ns - process.first.user_ns +
                                    process.children_user.all_told_ns());
  parent->second.children_system.Told(process.last.system_ns - process.first.system_ns +
                                      process.children_system.all_told_ns());
}

// A process that rests tells the same again and again: of that, the first and the last are written.
void UsageSampler::Take(const format::ProcessUsageRecord& usage, int64_t now_ns,
                        Followed& process) {
  const bool is_new = std::memcmp(&usage, &process.last, sizeof usage) != 0;
  if (is_new && process.unwritten_ns != 0) log_.Add(process.last, process.unwritten_ns);
  process.last = usage;
  process.unwritten_ns = is_new || tells_all_ ? 0 : now_ns;
  if (process.unwritten_ns == 0) log_.Add(usage, now_ns);
}

}  // namespace batchlight::capture
