#include "capture/recording/process_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "capture/loop/clock.h"
#include "capture/loop/process_parents.h"
#include "capture/program/process_end.h"
#include "capture/recording/live_folder.h"
#include "format/forbidden_call.h"

namespace batchlight::capture {
namespace {

bool HasEnded(int pid_fd) {
  pollfd state{pid_fd, POLLIN, 0};
  return poll(&state, 1, 0) == 1;
}

bool CanOpenFiles() {
  const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

}  // namespace

ProcessWatch::~ProcessWatch() {
  for (const auto& [pid, process] : processes_) {
    loop_.Remove(process.pid_fd);
    close(process.pid_fd);
  }
  if (notify_fd_ >= 0) {
    loop_.Remove(notify_fd_);
    close(notify_fd_);
  }
}

Status ProcessWatch::Open(const LiveFolder& live_folder) {
  folder_ = &live_folder;
  const std::string path = live_folder.folder().DescriptorPath();
  notify_fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (notify_fd_ < 0 || inotify_add_watch(notify_fd_, path.c_str(), IN_CREATE) < 0) {
    RETURN_IF_ERROR(LookNowAndThen());
  }
  loop_.Add(notify_fd_, [this] { ReadNames(); });
  return {};
}

// Where inotify is not to be had: other programs of the user have used it up, or the file system
// does not know it. A process that lives for less is still found, but not how it ended.
Status ProcessWatch::LookNowAndThen() {
  constexpr itimerspec kEvery{{0, 100'000'000}, {0, 100'000'000}};
  if (notify_fd_ >= 0) close(notify_fd_);
  notify_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (notify_fd_ < 0 || timerfd_settime(notify_fd_, 0, &kEvery, nullptr) != 0) {
    return OutputError("cannot watch " + folder_->path() + ": " + std::strerror(errno));
  }
  looks_by_timer_ = true;
  return {};
}

void ProcessWatch::ReadNames() {
  alignas(inotify_event) char buffer[16384];
  if (looks_by_timer_) {
    (void)!read(notify_fd_, buffer, sizeof(uint64_t));
    ScanFolder();
    return;
  }
  while (true) {
    const ssize_t count = read(notify_fd_, buffer, sizeof buffer);
    if (count <= 0) return;
    for (const char* at = buffer; at < buffer + count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      if ((event->mask & IN_Q_OVERFLOW) != 0) ScanFolder();
      if (event->len > 0) AddFile(event->name);
      at += sizeof(inotify_event) + event->len;
    }
  }
}

void ProcessWatch::ScanFolder() {
  for (const std::string& name : folder_->ProcessFiles()) AddFile(name.c_str());
}

void ProcessWatch::AddFile(const char* name) {
  int pid = 0;
  long long attach_ns = 0;
  int length = 0;
  if (std::sscanf(name, "%d-%lld.blp%n", &pid, &attach_ns, &length) != 2 ||
      static_cast<size_t>(length) != std::strlen(name) || pid <= 0) {
    return;
  }
  if (!files_.emplace(name, true).second) return;
  ++recorded_;
  if (const auto waited = waited_.find(pid);
      waited != waited_.end() && waited->second.end_ns > attach_ns) {
    Record(pid, attach_ns, &waited->second);
    return;
  }
  if (const auto known = processes_.find(pid); known != processes_.end()) {
    known->second.attach_ns = attach_ns;  // exec: the same process under a new image
    return;
  }
  const int pid_fd = OpenPidFd(pid);
  if (pid_fd < 0) {  // gone already, and reaped by its parent
    Record(pid, attach_ns, nullptr);
    return;
  }
  if (!IsWriter(pid, pid_fd)) {
    close(pid_fd);
    SayElsewhere(pid);
    return;
  }
  processes_[pid] = {pid_fd, attach_ns};
  loop_.Add(pid_fd, [this, pid] { HandleEnd(pid); });
}

// In a namespace of its own (unshare --pid, a container) a process has a number of its own, which
// is another process's here.
bool ProcessWatch::IsWriter(pid_t pid, int pid_fd) const {
  if (DescendsFrom(pid, getpid()) || folder_->IsMappedBy(pid)) return true;
  // Gone by now, or without a descriptor to look with: nothing speaks against it.
  return HasEnded(pid_fd) || !CanOpenFiles();
}

void ProcessWatch::SayElsewhere(pid_t pid) {
  if (std::exchange(said_elsewhere_, true)) return;
  log_.AddReason(format::kProcessesFeature,
                 "process " + std::to_string(pid) +
                     " numbers processes by itself (unshare --pid, a container): its "
                     "events are recorded; how it ended, samples of its code, and "
                     "what it used are not");
}

void ProcessWatch::SayIfForbidden(pid_t pid, int wait_status) {
  if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != format::kForbiddenCallSignal) return;
  if (std::exchange(said_forbidden_, true)) return;
  log_.AddReason(format::kProcessesFeature, format::ForbiddenCallText(pid));
}

void ProcessWatch::HandleEnd(pid_t pid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  const Process process = found->second;
  const std::optional<int> status = WaitStatusOf(pid, process.pid_fd);
  const End end{status.value_or(0), MonotonicNow()};
  if (status) SayIfForbidden(pid, *status);
  Record(pid, process.attach_ns, status ? &end : nullptr);
  loop_.Remove(process.pid_fd);
  close(process.pid_fd);
  processes_.erase(pid);
}

void ProcessWatch::NoteWaitStatus(pid_t pid, int wait_status) {
  const End end{wait_status, MonotonicNow()};
  SayIfForbidden(pid, wait_status);
  waited_[pid] = end;
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  Record(pid, found->second.attach_ns, &end);
  loop_.Remove(found->second.pid_fd);
  close(found->second.pid_fd);
  processes_.erase(found);
}

std::vector<pid_t> ProcessWatch::AlivePids() const {
  std::vector<pid_t> pids;
  pids.reserve(processes_.size());
  for (const auto& [pid, process] : processes_) pids.push_back(pid);
  return pids;
}

void ProcessWatch::Finish() {
  ReadNames();
  ScanFolder();
  std::vector<pid_t> ended;
  for (const auto& [pid, process] : processes_) {
    if (HasEnded(process.pid_fd)) ended.push_back(pid);
  }
  for (const pid_t pid : ended) HandleEnd(pid);
}

void ProcessWatch::Record(pid_t pid, int64_t attach_ns, const End* end) {
  format::ProcessStatusRecord record{};
  record.pid = static_cast<uint32_t>(pid);
  record.attach_ns = attach_ns;
  record.known = end != nullptr ? 1 : 0;
  record.wait_status = end != nullptr ? end->wait_status : 0;
  record.end_ns = end != nullptr ? end->end_ns : MonotonicNow();
  log_.AddProcessStatus(record);
}

}  // namespace batchlight::capture
