// Other programs that run beside the tool: report scripts, commands of the user, interpreters that
// are asked for their version. The recorded program waits between its fork and its exec, and may
// run as another user: capture/program/program.h.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace batchlight {

struct ChildSpec {
  std::vector<std::string> words;  // argv
  std::string path = {};           // to execute; empty = words[0], looked up along PATH
  // A program of the user's is found, and finds others, as a shell does. One of ours does so in
  // folders of PATH with an absolute path alone (FindOwnProgram).
  bool is_users = false;
  // Descriptors that become its standard ones; -1 = the tool's.
  int input_fd = -1;
  int output_fd = -1;
  int error_fd = -1;
  std::vector<std::pair<std::string, std::string>> variables = {};  // besides the tool's
  // For a tool that blocks signals and ignores SIGPIPE: the child blocks these, and SIGPIPE ends
  // it.
  std::optional<sigset_t> signal_mask = {};
};

// As exec wants arguments and an environment: null at the end. They point into `texts`.
std::vector<char*> TextPointers(const std::vector<std::string>& texts);

// Where a program lies that the tool needs, in a folder of PATH with an absolute path: an empty or
// relative entry leads to the present folder, which may be anybody's. "": nowhere. A name with '/'
// in it is a path.
std::string FindOwnProgram(const std::string& name);

struct Child {
  pid_t pid = -1;
  int error = 0;  // errno; 0 = it runs
};
Child StartChild(const ChildSpec& spec);

// At the start of main, before any handler. Whoever ignores a signal hands that on to what he
// starts; a process that ignores SIGCHLD is told the end of none of its children, so this one
// stops.
void TakeSignals();
// In a process that is about to execute another program: what the tool's own start found.
void GiveSignalsBack();

// Blocks until the child has ended; its wait status.
int WaitForChild(pid_t pid);

// As a shell gives it: 128 + signal if one ended the process.
int ShellExitCode(int wait_status);

struct ChildOutput {
  std::string text;  // of its standard output
  int error = 0;     // errno if it could not be started; 0 = it ran
  int wait_status = 0;
};
ChildOutput RunAndRead(ChildSpec spec);

// Runs a program whose standard input is what `write` writes. One that ends before it has read all
// of that does not end the tool: `write` then sees an error.
struct FedChild {
  int error = 0;  // errno if it could not be started, and `write` was not called; 0 = it ran
  int wait_status = 0;
};
FedChild RunAndFeed(ChildSpec spec, const std::function<void(std::FILE* input)>& write);

}  // namespace batchlight
