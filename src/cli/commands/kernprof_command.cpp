// batchlight kernprof: line_profiler's front end, which is Python (python/batchlight/_kernprof.py).
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "capture/program/install.h"
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

// Returns only if Python cannot be started.
Status Kernprof(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const capture::Install install, capture::FindInstall());
  std::vector<std::string> command = {"python3", install.python_folder + "/batchlight", "kernprof"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string beside = install.prefix + "/bin/python3";  // a virtual environment's
  if (access(beside.c_str(), X_OK) == 0) execv(beside.c_str(), arguments.data());
  execvp(arguments[0], arguments.data());
  return UsageError(std::string("kernprof needs python3, which cannot be started: ") +
                    std::strerror(errno));
}

}  // namespace

void RegisterKernprof(const Command& app, Outcome& outcome) {
  const Command command =
      app.Add("kernprof", "Count functions or time lines of a script, with kernprof's flags");
  command.Details(
      "kernprof -l -v SCRIPT times the lines of functions under @profile, without -l it counts "
      "calls of functions; `batchlight kernprof -h` lists its flags. The script runs in the "
      "python3 "
      "beside this program, else in that of PATH.");
  command.TakeAllWords();
  command.Runs([&outcome] { outcome.status = Kernprof(outcome.words); });
}

}  // namespace batchlight::cli
