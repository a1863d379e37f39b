// Turns changes of the control page (a futex) into events of a loop, and says to other machines
// that it is in use.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/status.h"
#include "capture/loop/event_loop.h"
#include "capture/recording/control.h"

namespace batchlight::capture {

class ControlWatch {
 public:
  // Both outlive this object.
  ControlWatch(EventLoop& loop, Control& control) : loop_(loop), control_(control) {}
  ControlWatch(const ControlWatch&) = delete;
  ControlWatch& operator=(const ControlWatch&) = delete;
  ~ControlWatch();

  // Starts a thread: not before the program is forked. What has changed by then is told, too.
  Status Open(std::function<void()> changed);

 private:
  EventLoop& loop_;
  Control& control_;
  std::function<void()> changed_;
  int event_fd_ = -1;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace batchlight::capture
