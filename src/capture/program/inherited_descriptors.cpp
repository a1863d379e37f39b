#include "capture/program/inherited_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace batchlight::capture {
namespace {

void PutNullAt(int fd) {
  if (isatty(fd) != 0 || fcntl(fd, F_GETFD) < 0) return;
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_fd < 0) return;
  dup2(null_fd, fd);
  close(null_fd);
}

// What the tool opens would else be in the place of a standard one that is closed, and be let go of
// as one. The program has it closed all the same.
void OccupyClosed() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    const int lowest = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (lowest > fd) close(lowest);
  }
}

}  // namespace

InheritedDescriptors::InheritedDescriptors() {
  OccupyClosed();
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    const int fd = std::atoi(entry->d_name);  // 0 for "." and ".."
    if (fd <= STDERR_FILENO) continue;
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) others_.push_back(fd);
  }
  const char* const given = std::getenv(kProgramErrorVariable);
  const int error = given != nullptr ? std::atoi(given) : -1;
  if (std::find(others_.begin(), others_.end(), error) != others_.end()) program_error_ = error;
}

void InheritedDescriptors::LetGo(Inherits keeps) const {
  if (keeps == Inherits::kAll) return;
  PutNullAt(STDIN_FILENO);
  if (keeps != Inherits::kOutput) PutNullAt(STDOUT_FILENO);
  for (const int fd : others_) close(fd);
}

}  // namespace batchlight::capture
