#include "capture/python/python_sampler.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "base/contain.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

constexpr int kNice = -10;
constexpr int64_t kSearchNs = 100'000'000;
constexpr int64_t kTickNs = 50'000'000;  // more than any kernel's
// Some file systems do not say that a folder has changed.
constexpr int64_t kListNs = 1'000'000'000;
// Whoever ends a capture waits for a round. Of thousands of threads the next round takes the rest;
// a process that means harm has lists and tables for an hour.
constexpr int64_t kMostRoundNs = 200'000'000;
// Looks come at moments that no step of the program keeps time with.
constexpr double kJitter = 0.25;

}  // namespace

Result<std::unique_ptr<PythonSampler>> PythonSampler::Open(const LiveFolder& live_folder,
                                                           int64_t period_ns, bool collecting) {
  ASSIGN_OR_RETURN(PythonLog log, PythonLog::Create(live_folder));
  return std::unique_ptr<PythonSampler>(
      new PythonSampler(live_folder, std::move(log), period_ns, collecting));
}

PythonSampler::~PythonSampler() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Status PythonSampler::Start() {
  return Contain("sampling Python (see `ulimit -u`)", [this]() -> Status {
    thread_ = std::thread([this] { Run(); });
    return {};
  });
}

void PythonSampler::Run() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const int64_t before_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID);
    if (collecting_ && failed_.ok()) {
      failed_ = Contain("sampling Python", [this, before_ns]() -> Status {
        Round(before_ns);
        return {};
      });
    }
    const int64_t spent_ns = ClockNow(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    wake_.wait_for(lock, std::chrono::nanoseconds(NextWaitNs(spent_ns)));
  }
}

int64_t PythonSampler::NextWaitNs(int64_t spent_ns) {
  const int64_t least_ns = pace_.LeastWaitNs(spent_ns);
  if (!collecting_ || processes_.empty()) return std::max(search_every_ns_, least_ns);
  const double share = std::uniform_real_distribution<double>(-kJitter, kJitter)(random_);
  const auto wait_ns = static_cast<int64_t>(static_cast<double>(period_ns_) * (1 + share));
  return std::max(wait_ns, least_ns);
}

void PythonSampler::Round(int64_t begin_cpu_ns) {
  const int64_t now_ns = MonotonicNow();
  if (now_ns >= search_at_ns_) {
    if (MayHoldMore(now_ns)) FindProcesses();
    search_every_ns_ = std::min(search_every_ns_ * 2, kSearchNs);
    search_at_ns_ = now_ns + search_every_ns_;
  }
  CpuLimit limit(begin_cpu_ns, kMostRoundNs);
  // Begins where the round before ended.
  for (size_t left = processes_.size(); left > 0; --left) {
    if (limit.IsReached()) return;
    auto place = processes_.upper_bound(last_pid_);
    if (place == processes_.end()) place = processes_.begin();
    last_pid_ = place->first;
    if (place->second->Look(log_, limit)) {
      has_seen_ = true;
      continue;
    }
    if (errno == EPERM || errno == ENOSYS) refused_ = errno;
    place->second->Flush(log_);
    processes_.erase(place);
  }
}

// A file that came in the tick of the folder's time in which it was listed, or was being written
// then, is found by listing it once more.
bool PythonSampler::MayHoldMore(int64_t now_ns) {
  const timespec changed = live_folder_.folder().Info().st_mtim;
  if (changed.tv_sec != changed_.tv_sec || changed.tv_nsec != changed_.tv_nsec) {
    changed_ = changed;
    settles_at_ns_ = now_ns + kTickNs;
    list_at_ns_ = now_ns;
  }
  if (now_ns < list_at_ns_) return false;
  list_at_ns_ = now_ns < settles_at_ns_ ? now_ns : now_ns + kListNs;
  return true;
}

void PythonSampler::FindProcesses() {
  for (const std::string& name : live_folder_.folder().Names()) {
    if (!name.ends_with(cpython::kFramesSuffix) || files_.contains(name)) continue;
    AddProcess(name);
  }
}

void PythonSampler::AddProcess(const std::string& name) {
  const int fd = live_folder_.folder().OpenFile(name, O_RDONLY);
  cpython::ProcessFrames where{};
  const bool is_whole = fd >= 0 && read(fd, &where, sizeof where) == sizeof where;
  if (fd >= 0) close(fd);
  if (!is_whole) return;  // it is being written: next time
  files_.insert(name);
  if (where.magic != cpython::kFramesMagic || where.bytes != sizeof where || where.pid == 0 ||
      !FrameReader::CanRead(where)) {
    return;
  }
  auto& process = processes_[where.pid];
  if (process && process->attach_ns() > where.attach_ns) return;
  if (process) process->Flush(log_);
  process = std::make_unique<SampledProcess>(where);
}

void PythonSampler::SetCapture(uint32_t capture_index, bool collecting) {
  const std::lock_guard lock(mutex_);
  if (collecting == collecting_ && capture_index == capture_index_) return;
  for (const auto& [pid, process] : processes_) process->Flush(log_);
  log_.SetCapture(capture_index);
  capture_index_ = capture_index;
  collecting_ = collecting;
}

Status PythonSampler::Finish() {
  const std::lock_guard lock(mutex_);
  for (const auto& [pid, process] : processes_) process->Flush(log_);
  if (failed_.ok() && refused_ != 0 && !has_seen_) {
    return OutputError(
        "the kernel does not let the tool read the program's memory (kernel.yama.ptrace_scope, or "
        "a "
        "container that forbids process_vm_readv)");
  }
  return failed_;
}

}  // namespace batchlight::capture
