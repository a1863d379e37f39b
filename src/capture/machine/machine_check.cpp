#include "capture/machine/machine_check.h"

#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/kernel_text.h"
#include "capture/cpu/perf_events.h"
#include "capture/program/find_program.h"
#include "capture/program/install.h"
#include "capture/python/target_memory.h"
#include "capture/session/session_protocol.h"

namespace batchlight::capture {
namespace {

void CheckInstallation(std::vector<Check>& checks) {
  const auto install = FindInstall();
  if (!install.ok()) {
    checks.push_back({"installation", Finding::kMissing, install.status().message(), ""});
    return;
  }
  checks.push_back({"installation", Finding::kGood, install.value().prefix, ""});
  checks.push_back(
      {"NVTX", Finding::kGood, "ranges of C, C++ and Python programs, with or without CUDA", ""});
  const std::string package = install.value().python_folder + "/batchlight/__init__.py";
  if (!FileExists(package)) {
    checks.push_back({"Python", Finding::kMissing, package + " is missing",
                      "copy the whole installation, share/ included"});
  }
}

void CheckSessions(std::vector<Check>& checks) {
  const auto folder = SessionFolder();
  checks.push_back(folder.ok() ? Check{"sessions", Finding::kGood, "kept in " + folder.value(), ""}
                               : Check{"sessions", Finding::kMissing, folder.status().message(),
                                       "profile works without sessions"});
}

void CheckDisk(std::vector<Check>& checks) {
  struct statvfs disk {};
  if (statvfs(".", &disk) != 0) return;
  const double free_gb =
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / 1e9;
  char text[128];
  std::snprintf(text, sizeof text, "%.1f GB free here", free_gb);
  const bool writable = access(".", W_OK) == 0;
  if (!writable) {
    checks.push_back({"disk", Finding::kMissing, "this folder cannot be written", "use -o"});
  } else if (free_gb < 1) {
    checks.push_back({"disk", Finding::kNote, text, "record elsewhere with -o, or free space"});
  } else {
    checks.push_back({"disk", Finding::kGood, text, ""});
  }
}

void CheckSampling(std::vector<Check>& checks) {
  const std::string why = WhyNoSamples();
  checks.push_back(why.empty() ? Check{"CPU samples", Finding::kGood,
                                       "and context switches: --sample, --cpuctxsw", ""}
                               : Check{"CPU samples", Finding::kNote,
                                       why + ": --sample takes them by timers in the program, "
                                             "without code in the kernel and static programs; no "
                                             "context switches",
                                       "kernel.perf_event_paranoid of at most 2 and, in a "
                                       "container, CAP_PERFMON or a seccomp profile that has "
                                       "perf_event_open"});
}

void CheckPythonSampling(std::vector<Check>& checks) {
  const std::string why = WhyNoTargetMemory();
  checks.push_back(why.empty()
                       ? Check{"Python samples", Finding::kGood, "--python-sampling", ""}
                       : Check{"Python samples", Finding::kMissing, why,
                               "kernel.yama.ptrace_scope of at most 1 and, in a container, "
                               "CAP_SYS_PTRACE or a seccomp profile that has process_vm_readv"});
}

void CheckKernel(std::vector<Check>& checks) {
  utsname names{};
  int major = 0;
  int minor = 0;
  if (uname(&names) == 0 && std::sscanf(names.release, "%d.%d", &major, &minor) == 2) {
    const bool knows_ends = major > 6 || (major == 6 && minor >= 15);
    checks.push_back({"kernel", Finding::kGood,
                      std::string("Linux ") + names.release +
                          (knows_ends ? ""
                                      : "; how grandchildren end is known only if they say so "
                                        "themselves (Linux 6.15 and newer: always)"),
                      ""});
  }
  const std::string source =
      FirstLineOf("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source.empty() && source != "tsc") {
    checks.push_back({"clock", Finding::kNote,
                      "the clock source is " + source + ": each event costs a little more",
                      "boot with tsc=reliable if the processor's counter is good"});
  }
}

}  // namespace

std::vector<Check> CheckMachine() {
  std::vector<Check> checks;
  CheckInstallation(checks);
  for (Check& check : CheckPython()) checks.push_back(std::move(check));
  for (Check& check : CheckGpu()) checks.push_back(std::move(check));
  CheckSampling(checks);
  CheckPythonSampling(checks);
  CheckKernel(checks);
  CheckSessions(checks);
  CheckDisk(checks);
  return checks;
}

}  // namespace batchlight::capture
