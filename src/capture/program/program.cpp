#include "capture/program/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/child.h"

namespace batchlight::capture {
namespace {

constexpr int kExitNeverStarted = 125;

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

void HideOutput() {
  const int null_fd = open("/dev/null", O_WRONLY);
  if (null_fd < 0) return;
  dup2(null_fd, STDOUT_FILENO);
  dup2(null_fd, STDERR_FILENO);
  close(null_fd);
}

// One that writes only takes its place, by which no keys can be read or typed and which cannot
// become the controlling terminal.
void LeaveTerminal(int fd) {
  if (isatty(fd) == 0) return;
  const bool writes = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  const std::string itself = "/proc/self/fd/" + std::to_string(fd);
  int other = writes ? open(itself.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC) : -1;
  if (other < 0) other = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (other < 0) {
    close(fd);
    return;
  }
  dup2(other, fd);
  close(other);
}

// Before becoming the user, who may not open what is root's; and in a session of its own /dev/tty,
// as it may have been opened, is no terminal.
void StandApart(const ProgramSpec& spec) {
  if (spec.input_fd >= 0) dup2(spec.input_fd, STDIN_FILENO);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) LeaveTerminal(fd);
  for (const int fd : spec.others) LeaveTerminal(fd);
  setsid();
}

[[noreturn]] void SayFailure(int result_fd, StartFailure::At at) {
  const StartFailure failure{at, errno};
  const ssize_t written = write(result_fd, &failure, sizeof failure);
  _exit(written == sizeof failure ? kExitNeverStarted : kExitNeverStarted + 1);
}

// The child's side. Ends in execve or _exit.
[[noreturn]] void RunChild(const ProgramSpec& spec, pid_t tool, int go_fd, int result_fd) {
  if (spec.apart) {
    StandApart(spec);
  } else if (!spec.shares_group) {
    setpgid(0, 0);
  }
  std::vector<std::string> environment = spec.environment;
  std::string variable = ReadToEnd(go_fd);
  if (variable.empty()) _exit(kExitNeverStarted);
  variable.pop_back();  // the NUL that tells "no variable" from "do not start"
  if (!variable.empty()) environment.push_back(std::move(variable));
  if (spec.error_fd >= 0) {
    dup2(spec.error_fd, STDERR_FILENO);
    close(spec.error_fd);
  }
  if (!spec.show_output) HideOutput();
  if (spec.run_as && !Become(*spec.run_as)) SayFailure(result_fd, StartFailure::At::kBecomingUser);
  // After becoming somebody else, which takes it back.
  if (spec.death_signal != 0) {
    prctl(PR_SET_PDEATHSIG, spec.death_signal);
    if (getppid() != tool) raise(spec.death_signal);
  }
  const std::vector<char*> envp = TextPointers(environment);
  const std::vector<char*> argv = TextPointers(spec.arguments);
  GiveSignalsBack();
  sigprocmask(SIG_SETMASK, &spec.signal_mask, nullptr);
  execve(spec.path.c_str(), argv.data(), envp.data());
  if (errno == ENOEXEC) {  // a script without "#!": the shell's, as for execvp
    std::vector<std::string> words = {"/bin/sh", spec.path};
    words.insert(words.end(), spec.arguments.begin() + 1, spec.arguments.end());
    execve("/bin/sh", TextPointers(words).data(), envp.data());
  }
  SayFailure(result_fd, StartFailure::At::kExec);
}

}  // namespace

Result<Program> Program::Fork(const ProgramSpec& spec) {
  int go[2];
  int result[2];
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(result, O_CLOEXEC) != 0) {
    return OutputError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  Program program;
  const pid_t tool = getpid();
  program.pid_ = fork();
  if (program.pid_ == 0) {
    close(go[1]);
    close(result[0]);
    RunChild(spec, tool, go[0], result[1]);
  }
  const int reason = errno;
  close(go[0]);
  close(result[1]);
  program.go_fd_ = go[1];
  program.result_fd_ = result[0];
  if (program.pid_ < 0) {
    return OutputError(std::string("cannot start a process: ") + std::strerror(reason));
  }
  // Both sides set it, so it holds whoever is first.
  if (!spec.shares_group && !spec.apart) setpgid(program.pid_, program.pid_);
  return program;
}

Program::Program(Program&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      go_fd_(std::exchange(other.go_fd_, -1)),
      result_fd_(std::exchange(other.result_fd_, -1)) {}

Program::~Program() {
  if (go_fd_ >= 0) {
    close(go_fd_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  if (result_fd_ >= 0) close(result_fd_);
}

StartFailure Program::Execute(const std::string& variable, const std::function<void()>& waits) {
  const size_t bytes = variable.size() + 1;  // with the NUL
  const ssize_t written = write(go_fd_, variable.c_str(), bytes);
  const int write_error = errno;
  close(std::exchange(go_fd_, -1));
  if (written != static_cast<ssize_t>(bytes)) return {StartFailure::At::kExec, write_error};
  constexpr int kLookMs = 200;
  pollfd result{.fd = result_fd_, .events = POLLIN, .revents = 0};
  while (poll(&result, 1, kLookMs) == 0) waits();
  StartFailure failure;
  ssize_t count;
  do {
    count = read(result_fd_, &failure, sizeof failure);
  } while (count < 0 && errno == EINTR);
  return count == sizeof failure ? failure : StartFailure();
}

}  // namespace batchlight::capture
