// batchlight kernprof: line_profiler's front end, which is Python (python/batchlight/_kernprof.py).
#include "capture/program/python_verb.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

void RegisterKernprof(const Command& app, Outcome& outcome) {
  const Command command =
      app.Add("kernprof", "Count functions or time lines of a script, with kernprof's flags");
  command.Details(
      "kernprof -l -v SCRIPT times the lines of functions under @profile, without -l it counts "
      "calls of functions; `batchlight kernprof -h` lists its flags. The script runs in the "
      "python3 "
      "beside this program, else in that of PATH.");
  command.TakeAllWords();
  command.Runs([&outcome] { outcome.status = capture::BecomePython("kernprof", outcome.words); });
}

}  // namespace batchlight::cli
