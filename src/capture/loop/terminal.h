// The terminal's foreground: lent to the program while it runs, so that Ctrl-C, Ctrl-Z and reading
// from the keyboard work as if it had been started by the shell.
#pragma once

#include <sys/types.h>

namespace batchlight::capture {

class Terminal {
 public:
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  bool present() const { return fd_ >= 0; }
  // Whether the tool's group has it.
  bool InForeground() const;
  // Hands the foreground to `group` if the tool has it: a tool in the background takes nothing.
  // SIGTTOU must be blocked.
  void Lend(pid_t group) const;
  // Returns whether `group` had it.
  bool TakeBack(pid_t group) const;

 private:
  int fd_ = -1;
};

}  // namespace batchlight::capture
