#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace batchlight {

int TerminalColumns(std::FILE* file) {
  const int fd = fileno(file);
  winsize size{};
  return fd >= 0 && isatty(fd) != 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace batchlight
