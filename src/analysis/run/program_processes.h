// Which of the recorded processes are the program, and which ended in a way that one should know.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/run/session_info.h"
#include "analysis/steps/steps.h"

namespace batchlight {

struct ProgramProcesses {
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // Row of SessionInfo::processes that headings describe: the one that trains, else the first (what
  // it became by exec), unless only another program that it started recorded something.
  size_t main = kNone;
  // By row. A launcher is what ran before the program did, such as the shell script that pyenv
  // calls python: it recorded nothing and gave way to the program by exec, or is a child of one
  // that did.
  std::vector<bool> launcher;
  // By row: an exit code or a signal. Not of launchers, and not the SIGTERM by which a process ends
  // its workers, as multiprocessing.Pool does.
  std::vector<bool> failed;
  size_t count = 0;  // processes without launchers; one that called exec counts once
};

// False where the input does not say how the process ended: most foreign files, and running jobs.
bool EndIsKnown(const ProcessInfo& process);

// "train.py": the script of a Python program, also of one that a launcher started, else the name of
// the program, of a run that names none its file's. As recorded: may hold what no terminal shows.
std::string ProgramName(const SessionInfo& session);

ProgramProcesses FindProgramProcesses(const SessionInfo& session, const StepSet& steps = {});

}  // namespace batchlight
