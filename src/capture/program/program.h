// The recorded program: a child process, in a process group of its own where that harms nobody.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "capture/program/run_as.h"

namespace batchlight::capture {

struct ProgramSpec {
  std::string path;                      // to execute
  std::vector<std::string> arguments;    // argv, argv[0] included
  std::vector<std::string> environment;  // NAME=VALUE
  int error_fd = -1;                     // of its standard error; -1: the tool's
  bool show_output = true;               // false: stdout and stderr go to /dev/null
  sigset_t signal_mask{};                // of the program, as the tool inherited it
  std::optional<RunAs> run_as;           // nothing: the tool's own user
  int death_signal = 0;                  // when the tool dies; 0: none
  bool shares_group = false;             // stays in the tool's
  // Gets a session of its own, and of its standard descriptors and `others` that are terminals
  // none that could be read from: it may be hostile to whoever types there.
  bool apart = false;
  int input_fd = -1;             // its standard input; -1: the tool's
  std::vector<int> others = {};  // further descriptors that it inherits
};

// Why the program could not be started; error 0: it runs.
struct StartFailure {
  enum class At : int { kExec, kBecomingUser };
  At at = At::kExec;
  int error = 0;  // errno
};

// Starts in two steps, because the name of the recording may hold the program's pid: Fork() makes
// the process, which waits; Execute() lets it become the program.
class Program {
 public:
  // Call before any thread is started.
  static Result<Program> Fork(const ProgramSpec& spec);
  Program(Program&& other) noexcept;
  Program& operator=(Program&& other) = delete;
  // A process that was never let go ends without having run anything.
  ~Program();

  pid_t pid() const { return pid_; }  // also its process group, where it has its own

  // Adds `variable` (NAME=VALUE; "" adds none) to its environment and executes. `waits` is called
  // now and then where that takes long, as on a file system that does not answer.
  StartFailure Execute(const std::string& variable, const std::function<void()>& waits);

 private:
  Program() = default;
  pid_t pid_ = -1;
  int go_fd_ = -1;      // write end: the variable; closing it ends a waiting process
  int result_fd_ = -1;  // read end: a StartFailure; end of file = it runs
};

}  // namespace batchlight::capture
