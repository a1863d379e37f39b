// Finds the program to run before anything is made, so that a wrong name leaves nothing behind.
#pragma once

#include <string>

#include "base/status.h"
#include "capture/program/program.h"

namespace batchlight::capture {

// Exit codes of a program that could not be started, as shells, env(1) and timeout(1) use them.
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

struct FoundProgram {
  std::string path;     // to execute; empty = it cannot be
  int exit_code = 0;    // kExitNotFound or kExitNotExecutable if path is empty
  std::string problem;  // in words
};

// Looks along `search_path` (the value of PATH) as execvp(3) does.
FoundProgram FindProgram(const std::string& name, const std::string& search_path);

// What a program that did not start means to the user.
FoundProgram ExplainStartFailure(const std::string& path, const StartFailure& failure);

}  // namespace batchlight::capture
