#include "base/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/split.h"

namespace batchlight {
namespace {

// The tool's environment with `variables` in place of those of the same name.
std::vector<std::string> Environment(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : variables) {
      replaced = replaced || (text.starts_with(name) && text.substr(name.size()).starts_with('='));
    }
    if (!replaced) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(name + "=" + value);
  return environment;
}

// Entries of PATH with an absolute path; where there is none, those that it has where nobody sets
// it.
std::string OwnSearchPath() {
  const char* const users = std::getenv("PATH");
  std::string path;
  for (const std::string_view entry : SplitAt(users != nullptr ? users : "", ':')) {
    if (entry.starts_with('/')) path.append(path.empty() ? "" : ":").append(entry);
  }
  return path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path;
}

bool IsProgram(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

struct Signal {
  int number;
  sighandler_t at_start;  // of the tool: SIG_DFL or SIG_IGN
};
// Those that the tool handles or ignores.
Signal g_signals[] = {{SIGCHLD, SIG_DFL},
                      {SIGBUS, SIG_DFL},
                      {SIGPIPE, SIG_DFL},
                      {SIGXFSZ, SIG_DFL},
                      {SIGXCPU, SIG_DFL}};

}  // namespace

void TakeSignals() {
  for (auto& [number, at_start] : g_signals) {
    struct sigaction present;
    if (sigaction(number, nullptr, &present) == 0) at_start = present.sa_handler;
  }
  signal(SIGCHLD, SIG_DFL);
}

void GiveSignalsBack() {
  for (const auto& [number, at_start] : g_signals) signal(number, at_start);
}

std::vector<char*> TextPointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string FindOwnProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsProgram(name) ? name : "";
  const std::string folders = OwnSearchPath();
  for (const std::string_view folder : SplitAt(folders, ':')) {
    const std::string path = std::string(folder) + "/" + name;
    if (!name.empty() && IsProgram(path)) return path;
  }
  return "";
}

Child StartChild(const ChildSpec& spec) {
  std::string path = spec.path.empty() ? spec.words[0] : spec.path;
  std::vector<std::pair<std::string, std::string>> variables = spec.variables;
  if (!spec.is_users) {
    if (path.find('/') == std::string::npos) path = FindOwnProgram(path);
    if (path.empty()) return {.error = ENOENT};
    if (std::getenv("PATH") != nullptr) variables.emplace_back("PATH", OwnSearchPath());
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::pair<int, int> standard[] = {{spec.input_fd, STDIN_FILENO},
                                          {spec.output_fd, STDOUT_FILENO},
                                          {spec.error_fd, STDERR_FILENO}};
  for (const auto& [from, to] : standard) {
    if (from >= 0) posix_spawn_file_actions_adddup2(&actions, from, to);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (spec.signal_mask) {
    sigset_t ignored;  // by the tool, while it records
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    sigaddset(&ignored, SIGXCPU);
    posix_spawnattr_setsigmask(&attributes, &*spec.signal_mask);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  const std::vector<std::string> environment = Environment(variables);
  Child child;
  child.error = posix_spawnp(&child.pid, path.c_str(), &actions, &attributes,
                             TextPointers(spec.words).data(), TextPointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

int WaitForChild(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int ShellExitCode(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

ChildOutput RunAndRead(ChildSpec spec) {
  ChildOutput output;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    output.error = errno;
    return output;
  }
  spec.output_fd = ends[1];
  const Child child = StartChild(spec);
  close(ends[1]);
  output.error = child.error;
  if (child.error == 0) {
    char block[65536];
    ssize_t count = 0;
    while ((count = read(ends[0], block, sizeof block)) > 0 || (count < 0 && errno == EINTR)) {
      if (count > 0) output.text.append(block, static_cast<size_t>(count));
    }
  }
  close(ends[0]);
  if (child.error == 0) output.wait_status = WaitForChild(child.pid);
  return output;
}

FedChild RunAndFeed(ChildSpec spec, const std::function<void(std::FILE* input)>& write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.error = errno};
  spec.input_fd = ends[0];
  const Child child = StartChild(spec);
  close(ends[0]);
  if (child.error != 0) {
    close(ends[1]);
    return {.error = child.error};
  }
  const auto old_handler = std::signal(SIGPIPE, SIG_IGN);
  std::FILE* pipe = fdopen(ends[1], "w");
  write(pipe);
  std::fclose(pipe);
  const int wait_status = WaitForChild(child.pid);
  std::signal(SIGPIPE, old_handler);
  return {.wait_status = wait_status};
}

}  // namespace batchlight
