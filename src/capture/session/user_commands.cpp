#include "capture/session/user_commands.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/child.h"

namespace batchlight::capture {
namespace {

// The recording need not be there yet.
std::string Absolute(const std::string& path) {
  char folder[4096];
  if (path.starts_with('/') || getcwd(folder, sizeof folder) == nullptr) return path;
  return std::string(folder) + "/" + path;
}

}  // namespace

void UserCommands::Start(const std::string& callback, const std::string& command,
                         const std::string& report) {
  if (command.empty()) return;
  if (running_.size() >= kMostAtOnce) {
    if (!std::exchange(said_too_many_, true)) {
      notice_("--" + callback + ": " + std::to_string(kMostAtOnce) +
              " of its commands still run: no more are started meanwhile");
    }
    return;
  }
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Child child = StartChild({.words = {"sh", "-c", command},
                                  .path = "/bin/sh",
                                  .is_users = true,
                                  .input_fd = nothing,
                                  .output_fd = STDERR_FILENO,  // stdout is the program's
                                  .variables = {{"NSYS_SESSION_NAME", session_name_},
                                                {"NSYS_CALLBACK_NAME", callback},
                                                {"NSYS_REPORT_PATH", Absolute(report)}},
                                  .signal_mask = mask_});
  if (nothing >= 0) close(nothing);
  if (child.error != 0) {
    notice_("--" + callback + ": cannot start a process: " + std::strerror(child.error));
    return;
  }
  running_[child.pid] = callback;
}

bool UserCommands::NoteEnd(pid_t pid, int wait_status) {
  const auto found = running_.find(pid);
  if (found == running_.end()) return false;
  if (WIFSIGNALED(wait_status)) {
    notice_("the command of --" + found->second + " was ended by signal " +
            std::to_string(WTERMSIG(wait_status)));
  } else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0) {
    notice_("the command of --" + found->second + " ended with exit code " +
            std::to_string(WEXITSTATUS(wait_status)));
  }
  running_.erase(found);
  return true;
}

void UserCommands::WaitFor(const std::string& callback) {
  for (auto next = running_.begin(); next != running_.end();) {
    const auto [pid, of] = *next++;
    if (of != callback) continue;
    NoteEnd(pid, WaitForChild(pid));
  }
}

}  // namespace batchlight::capture
