#include "capture/loop/event_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight::capture {

EventLoop::~EventLoop() {
  if (epoll_fd_ >= 0) close(epoll_fd_);
}

Status EventLoop::Open() {
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd_ < 0) return OutputError(std::string("epoll_create1: ") + std::strerror(errno));
  return {};
}

void EventLoop::Add(int fd, std::function<void()> ready) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  callbacks_[fd] = std::move(ready);
  epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
}

void EventLoop::Remove(int fd) {
  epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr);
  callbacks_.erase(fd);
}

void EventLoop::Wait(int timeout_ms) {
  epoll_event events[64];
  const int count = epoll_wait(epoll_fd_, events, 64, timeout_ms);
  for (int i = 0; i < count; ++i) {
    const auto found = callbacks_.find(events[i].data.fd);
    if (found == callbacks_.end()) continue;  // removed by a callback of this round
    const std::function<void()> ready = found->second;
    ready();
  }
}

}  // namespace batchlight::capture
