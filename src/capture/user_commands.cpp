#include "capture/user_commands.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace batchlight::capture {
namespace {

// The child's side.
[[noreturn]] void RunShell(const std::string& command, const sigset_t& mask) {
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the program's
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(127);
}

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
  const std::string path = Absolute(report);
  const pid_t pid = fork();
  if (pid < 0) {
    notice_("--" + callback + ": cannot start a process: " + std::strerror(errno));
    return;
  }
  if (pid == 0) {
    setenv("NSYS_SESSION_NAME", session_name_.c_str(), 1);
    setenv("NSYS_CALLBACK_NAME", callback.c_str(), 1);
    setenv("NSYS_REPORT_PATH", path.c_str(), 1);
    RunShell(command, mask_);
  }
  running_[pid] = callback;
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
    int status = 0;
    pid_t ended;
    do {
      ended = waitpid(pid, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended == pid) NoteEnd(pid, status);
  }
}

}  // namespace batchlight::capture
