#include "capture/recording/control_watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/contain.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// A folder in which nothing changed for ten minutes is taken for left (LiveFolder).
constexpr int64_t kTouchNs = 60'000'000'000;

}  // namespace

ControlWatch::~ControlWatch() {
  if (!thread_.joinable()) return;
  ended_ = true;
  control_.Wake();
  thread_.join();
  loop_.Remove(event_fd_);
  close(event_fd_);
}

Status ControlWatch::Open(std::function<void()> changed) {
  changed_ = std::move(changed);
  event_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event_fd_ < 0) return OutputError(std::string("eventfd: ") + std::strerror(errno));
  loop_.Add(event_fd_, [this] {
    eventfd_t count;
    eventfd_read(event_fd_, &count);
    changed_();
  });
  // The thread inherits the blocked signals of its maker, so it takes none of them.
  return Contain("watching the control page (see `ulimit -u`)", [this] {
    thread_ = std::thread([this, seen = uint32_t{0}]() mutable {
      int64_t touch_ns = 0;
      while (!ended_) {
        if (const int64_t now_ns = MonotonicNow(); now_ns >= touch_ns) {
          control_.Touch();
          touch_ns = now_ns + kTouchNs;
        }
        seen = control_.WaitForChange(seen);
        eventfd_write(event_fd_, 1);
      }
    });
    return Status();
  });
}

}  // namespace batchlight::capture
