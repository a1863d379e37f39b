#include "capture/program/brief_child.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

namespace batchlight::capture {
namespace {

// Whether all of it came within the limits.
bool ReadWithin(int fd, const BriefLimits& limits, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limits.seconds);
  char block[65536];
  while (text.size() <= limits.bytes) {
    const auto left = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{fd, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left) + 1) <= 0) continue;
    const ssize_t count = read(fd, block, sizeof block);
    if (count == 0) return true;
    if (count > 0) text.append(block, static_cast<size_t>(count));
    if (count < 0 && errno != EINTR) return false;
  }
  return false;
}

}  // namespace

BriefOutput RunBriefly(ChildSpec spec, const BriefLimits& limits) {
  BriefOutput output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    output.child.error = errno;
    return output;
  }
  spec.output_fd = ends[1];
  const Child child = StartChild(spec);
  close(ends[1]);
  output.child.error = child.error;
  if (child.error == 0) {
    output.was_ended = !ReadWithin(ends[0], limits, output.child.text);
    if (output.was_ended) kill(child.pid, SIGKILL);
  }
  close(ends[0]);
  if (child.error == 0) output.child.wait_status = WaitForChild(child.pid);
  return output;
}

}  // namespace batchlight::capture
