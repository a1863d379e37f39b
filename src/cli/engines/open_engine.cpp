#include <unistd.h>

#include <cstdlib>

#include "cli/engines/engine.h"
#include "cli/engines/remote_engine.h"

namespace batchlight::cli {
namespace {

// What follows "NAME:" in the text; nothing where the text is of another engine.
bool IsEngine(const std::string& text, const std::string& name, std::string* rest) {
  if (text != name && !text.starts_with(name + ":")) return false;
  *rest = text.size() > name.size() ? text.substr(name.size() + 1) : "";
  return true;
}

bool IsNumber(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

std::string NamedScheduler() {
  for (const char* const name : {"DASK_SCHEDULER_ADDRESS", "NSYS_DASK_SCHEDULER_FILE"}) {
    const char* const scheduler = std::getenv(name);
    if (scheduler != nullptr && *scheduler != '\0') return scheduler;
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<Engine>> OpenEngine(const std::string& text) {
  std::string rest;
  if (text == "local") return LocalEngine(LocalThreads::kAll);
  if (IsEngine(text, "slurm", &rest)) {
    if (!IsNumber(rest)) return UsageError("--engine " + text + ": slurm:JOB takes a job's number");
    return RemoteEngine(SlurmWorkers(rest));
  }
  if (IsEngine(text, "dask", &rest)) {
    if (rest.empty()) rest = NamedScheduler();
    // No cluster of our own: its ports would run what any user of this machine sends to them.
    if (rest.empty()) return LocalEngine(LocalThreads::kAll);
    return RemoteEngine(DaskWorkers(rest));
  }
  return UsageError("--engine " + text +
                    ": local, slurm, slurm:JOB, dask, dask:ADDRESS or dask:SCHEDULER-FILE");
}

std::vector<std::string> ProgramOfWorkers(const std::vector<std::string>& words) {
  std::string program = "batchlight";
  if (const char* const other = std::getenv("BATCHLIGHT_WORKER")) {
    program = other;
  } else {
    char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    if (size > 0 && size < static_cast<ssize_t>(sizeof path)) {
      program.assign(path, static_cast<size_t>(size));
    }
  }
  std::vector<std::string> command = {
      "sh", "-c", "if [ -x \"$0\" ]; then exec \"$0\" \"$@\"; else exec batchlight \"$@\"; fi",
      program};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

}  // namespace batchlight::cli
