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
  int ends[2];
  if (!others_read && pipe2(ends, O_CLOEXEC) == 0) {
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
  for (const int fd : {program_fd_, keys_fd_, stop_fd_}) {
    if (fd >= 0) close(fd);
  }
}

void KeyRelay::Start() {
  if (program_fd_ >= 0) close(std::exchange(program_fd_, -1));
  if (stop_fd_ >= 0 || keys_fd_ < 0) return;
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  // Without room for a thread nothing is typed for it.
  if (stop_fd_ < 0) return;
  (void)Contain("a thread", [this] {
    thread_ = std::thread([this] {
      Run();
      close(std::exchange(keys_fd_, -1));  // the end of the program's input
    });
    return Status();
  });
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
    pollfd waits[] = {{stop_fd_, POLLIN, 0}, {keys_fd_, 0, 0}, {reads ? kTerminal : -1, POLLIN, 0}};
    if (poll(waits, 3, reads ? -1 : kLookMs) < 0) continue;
    if (waits[0].revents != 0 || waits[1].revents != 0) return;  // nobody reads the keys any more
    if (waits[2].revents == 0 || !MayRead()) continue;
    char keys[4096];
    const ssize_t count = read(kTerminal, keys, sizeof keys);
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
