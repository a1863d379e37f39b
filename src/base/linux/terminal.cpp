#include "base/terminal.h"

#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace batchlight {

int TerminalColumns(std::FILE* file) {
  const int fd = fileno(file);
  winsize size{};
  return fd >= 0 && isatty(fd) != 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool WritePatiently(std::FILE* file, std::string_view text, int patience_ms) {
  if (std::fflush(file) != 0) return false;
  const int fd = fileno(file);
  const int wait_ms = isatty(fd) != 0 ? -1 : patience_ms;
  while (!text.empty()) {
    pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
    const int found = poll(&ready, 1, wait_ms);
    if (found == 0) errno = EAGAIN;
    if (found <= 0 && (found == 0 || errno != EINTR)) return false;
    if (found < 0) continue;
    // So much does not block where poll() found room.
    const ssize_t wrote = write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (wrote >= 0) {
      text.remove_prefix(static_cast<size_t>(wrote));
    } else if (errno != EINTR && errno != EAGAIN) {
      return false;
    }
  }
  return true;
}

}  // namespace batchlight
