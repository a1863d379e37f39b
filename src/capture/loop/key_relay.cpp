#include "capture/loop/key_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/contain.h"

namespace batchlight::capture {
namespace {

constexpr int kTerminal = STDIN_FILENO;

// Of a terminal that is not the controlling one nobody has the foreground.
bool MayRead() {
  const pid_t foreground = tcgetpgrp(kTerminal);
  return foreground < 0 || foreground == getpgrp();
}

}  // namespace

KeyRelay::KeyRelay(bool others_read) {
  if (isatty(kTerminal) == 0) return;
  // Opened anew: not to wait in read(), where Stop() does not reach, for keys that another reader
  // took, or that VMIN asks for. O_NONBLOCK of the inherited one is the shell's too.
  if (!others_read) {
    terminal_fd_ = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  int ends[2];
  if (terminal_fd_ >= 0 && pipe2(ends, O_CLOEXEC) == 0) {
    program_fd_ = ends[0];
    keys_fd_ = ends[1];
    fcntl(keys_fd_, F_SETFL, O_NONBLOCK);
  } else {
    program_fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

KeyRelay::~KeyRelay() {
  Stop();
  if (thread_.joinable()) thread_.join();
  for (const int fd : {terminal_fd_, program_fd_, keys_fd_, stop_fd_}) {
    if (fd >= 0) close(fd);
  }
}

void KeyRelay::Start() {
  if (program_fd_ >= 0) close(std::exchange(program_fd_, -1));
  if (stop_fd_ >= 0 || keys_fd_ < 0) return;
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  const auto end_input = [this] { close(std::exchange(keys_fd_, -1)); };
  const auto start = [&] {
    thread_ = std::thread([this, end_input] {
      Run();
      end_input();
    });
    return Status();
  };
  // Without room for a thread nothing is typed for it.
  if (stop_fd_ < 0 || !Contain("a thread", start).ok()) end_input();
}

void KeyRelay::Stop() const {
  const uint64_t once = 1;
  if (stop_fd_ >= 0) (void)!write(stop_fd_, &once, sizeof once);
}

// SIGTTIN is blocked, so that reading in the background is an error and stops nobody.
void KeyRelay::Run() const {
  constexpr int kLookMs = 200;
  while (true) {
    const bool reads = MayRead();
    pollfd waits[] = {
        {stop_fd_, POLLIN, 0}, {keys_fd_, 0, 0}, {reads ? terminal_fd_ : -1, POLLIN, 0}};
    if (poll(waits, 3, reads ? -1 : kLookMs) < 0) continue;
    if (waits[0].revents != 0 || waits[1].revents != 0) return;  // nobody reads the keys any more
    if (waits[2].revents == 0 || !MayRead()) continue;
    char keys[4096];
    const ssize_t count = read(terminal_fd_, keys, sizeof keys);
    const bool in_background = count < 0 && errno == EIO && !MayRead();
    if (in_background || (count < 0 && (errno == EINTR || errno == EAGAIN))) continue;
    if (count <= 0 || !Give(keys, static_cast<size_t>(count))) return;
  }
}

bool KeyRelay::Give(const char* keys, size_t count) const {
  while (count > 0) {
    pollfd waits[] = {{stop_fd_, POLLIN, 0}, {keys_fd_, POLLOUT, 0}};
    if (poll(waits, 2, -1) < 0) continue;
    if (waits[0].revents != 0 || (waits[1].revents & POLLERR) != 0) return false;
    const ssize_t given = write(keys_fd_, keys, count);
    if (given < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (given < 0) continue;
    keys += given;
    count -= static_cast<size_t>(given);
  }
  return true;
}

}  // namespace batchlight::capture
