#include "capture/loop/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace batchlight::capture {

Terminal::Terminal() : fd_(open("/dev/tty", O_RDWR | O_CLOEXEC)) {}

Terminal::~Terminal() {
  if (fd_ >= 0) close(fd_);
}

bool Terminal::InForeground() const { return fd_ >= 0 && tcgetpgrp(fd_) == getpgrp(); }

void Terminal::Lend(pid_t group) const {
  if (InForeground()) tcsetpgrp(fd_, group);
}

bool Terminal::TakeBack(pid_t group) const {
  if (fd_ < 0 || tcgetpgrp(fd_) != group) return false;
  tcsetpgrp(fd_, getpgrp());
  return true;
}

}  // namespace batchlight::capture
