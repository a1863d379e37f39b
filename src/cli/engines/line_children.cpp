#include "cli/engines/line_children.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>

namespace batchlight::cli {
namespace {

constexpr size_t kMostSaid = 4096;

// What ends the tool ends them: a child of a launcher's, as srun, goes on otherwise, with its work
// on other machines. Ctrl-C reaches them as it does the tool.
constexpr int kEnding[] = {SIGTERM, SIGHUP};
std::array<std::atomic<pid_t>, 4096> g_running;  // 0: none

void Exchange(pid_t from, pid_t to) {
  for (std::atomic<pid_t>& pid : g_running) {
    pid_t expected = from;
    if (pid.compare_exchange_strong(expected, to)) return;
  }
}

void EndAll(int signal) {
  for (const std::atomic<pid_t>& pid : g_running) {
    if (pid != 0) kill(pid, SIGTERM);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Close(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

LineChildren::LineChildren() : old_pipe_handler_(std::signal(SIGPIPE, SIG_IGN)) {
  for (size_t i = 0; i < std::size(kEnding); ++i) {
    old_handlers_[i] = std::signal(kEnding[i], EndAll);
    if (old_handlers_[i] == SIG_IGN) std::signal(kEnding[i], SIG_IGN);  // nohup
  }
}

LineChildren::~LineChildren() {
  for (auto& [id, child] : children_) {
    Close(child.input);
    kill(child.pid, SIGTERM);
  }
  for (auto& [id, child] : children_) {
    Close(child.output);
    Close(child.error);
    Exchange(child.pid, 0);
    WaitForChild(child.pid);
  }
  for (size_t i = 0; i < std::size(kEnding); ++i) std::signal(kEnding[i], old_handlers_[i]);
  std::signal(SIGPIPE, old_pipe_handler_);
}

Status LineChildren::Start(size_t id, const std::vector<std::string>& words, bool listens) {
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};  // input, output, error; to read, to write
  bool made = true;
  for (auto& ends : pipes) made = made && pipe2(ends, O_CLOEXEC) == 0;
  Child started{.error = errno};
  if (made) {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    started = StartChild({.words = words,
                          .input_fd = pipes[0][0],
                          .output_fd = pipes[1][1],
                          .error_fd = pipes[2][1],
                          .signal_mask = mask});
  }
  for (int* end : {&pipes[0][0], &pipes[1][1], &pipes[2][1]}) Close(*end);
  if (!made || started.error != 0) {
    for (int* end : {&pipes[0][1], &pipes[1][0], &pipes[2][0]}) Close(*end);
    return UsageError("cannot start " + words[0] + ": " + std::strerror(started.error));
  }
  Exchange(0, started.pid);
  if (!listens) Close(pipes[0][1]);
  children_[id] = {.pid = started.pid,
                   .input = pipes[0][1],
                   .output = pipes[1][0],
                   .error = pipes[2][0],
                   .unread = {},
                   .said = {}};
  return {};
}

Status LineChildren::Say(size_t id, std::string_view text) {
  const auto child = children_.find(id);
  if (child == children_.end()) return InputError("it has ended");
  while (!text.empty()) {
    const ssize_t count = write(child->second.input, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return InputError(std::strerror(errno));
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

void LineChildren::Take(int& fd, bool is_output, Running& child) {
  char block[65536];
  const ssize_t count = read(fd, block, sizeof block);
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) return Close(fd);
  std::string& text = is_output ? child.unread : child.said;
  text.append(block, static_cast<size_t>(count));
  if (!is_output && text.size() > kMostSaid) text.erase(0, text.size() - kMostSaid);
}

void LineChildren::ReadSome() {
  std::vector<pollfd> waits;
  std::vector<std::pair<Running*, bool>> whose;
  for (auto& [id, child] : children_) {
    for (const bool is_output : {true, false}) {
      const int fd = is_output ? child.output : child.error;
      if (fd < 0) continue;
      waits.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      whose.emplace_back(&child, is_output);
    }
  }
  if (poll(waits.data(), waits.size(), -1) < 0) return;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i].revents == 0) continue;
    const auto [child, is_output] = whose[i];
    Take(is_output ? child->output : child->error, is_output, *child);
  }
}

bool LineChildren::FindEvent(Event* event) {
  for (auto& [id, child] : children_) {
    const size_t end = child.unread.find('\n', child.searched);
    child.searched = end == std::string::npos ? child.unread.size() : 0;
    if (end != std::string::npos) {
      *event = {.id = id, .line = child.unread.substr(0, end), .said = {}};
      child.unread.erase(0, end + 1);
      return true;
    }
    if (!child.ended()) continue;
    Close(child.input);
    Exchange(child.pid, 0);
    *event = {.id = id,
              .ended = true,
              .line = {},
              .said = std::move(child.said),
              .wait_status = WaitForChild(child.pid)};
    children_.erase(id);
    return true;
  }
  return false;
}

LineChildren::Event LineChildren::Next() {
  Event event;
  while (!FindEvent(&event)) ReadSome();
  return event;
}

}  // namespace batchlight::cli
