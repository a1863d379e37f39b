// The commands that record or measure a machine: what they need is Linux, and they say so.
#include "cli/flags/command.h"

namespace batchlight::cli {
namespace {

constexpr char kWhatToDo[] =
    " needs Linux (WSL 2 has it): run it there, and read the recording here with `batchlight "
    "summary RUN` or `batchlight report RUN`. What Nsight Systems or torch.profiler recorded on "
    "Windows is read too";

void Add(const Command& app, Outcome& outcome, const char* name) {
  const Command command = app.Add(name, "Needs Linux");
  command.TakeAllWords();
  command.Runs([&outcome, name] {
    outcome.words.clear();
    outcome.status = UsageError("batchlight " + std::string(name) + kWhatToDo);
  });
}

}  // namespace

#define NEEDS_LINUX(function, name) \
  void function(const Command& app, Outcome& outcome) { Add(app, outcome, name); }
NEEDS_LINUX(RegisterProfile, "profile")
NEEDS_LINUX(RegisterKernels, "kernels")
NEEDS_LINUX(RegisterClean, "clean")
NEEDS_LINUX(RegisterDlprof, "dlprof")
NEEDS_LINUX(RegisterKernprof, "kernprof")
NEEDS_LINUX(RegisterLaunch, "launch")
NEEDS_LINUX(RegisterStart, "start")
NEEDS_LINUX(RegisterStop, "stop")
NEEDS_LINUX(RegisterCancel, "cancel")
NEEDS_LINUX(RegisterShutdown, "shutdown")
NEEDS_LINUX(RegisterSessions, "sessions")
NEEDS_LINUX(RegisterStatus, "status")
NEEDS_LINUX(RegisterProbe, "probe")
NEEDS_LINUX(RegisterDoctor, "doctor")
NEEDS_LINUX(RegisterCounters, "counters")
NEEDS_LINUX(RegisterWork, "work")
#undef NEEDS_LINUX

// `trace` has a verb of that kind.
void AddTraceSeal(const Command& trace, Outcome& outcome) { Add(trace, outcome, "seal"); }

}  // namespace batchlight::cli
