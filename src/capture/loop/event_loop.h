// Waits for file descriptors and calls back, one at a time, on the calling thread.
#pragma once

#include <functional>
#include <unordered_map>

#include "base/status.h"

namespace batchlight::capture {

class EventLoop {
 public:
  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  Status Open();
  // Calls `ready` whenever `fd` can be read. The loop does not own `fd`: Remove it before closing.
  void Add(int fd, std::function<void()> ready);
  void Remove(int fd);
  // Waits once, at most `timeout_ms` (-1: without end), and calls what is ready. A callback may
  // add and remove descriptors, its own included.
  void Wait(int timeout_ms);

 private:
  int epoll_fd_ = -1;
  std::unordered_map<int, std::function<void()>> callbacks_;
};

}  // namespace batchlight::capture
