#include "capture/recording/machine_facts.h"

#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/kernel_text.h"
#include "base/thread_pool.h"
#include "format/launchers.h"
#include "format/secrets.h"

namespace batchlight::capture {
namespace {

// Besides those of format/launchers.def.
constexpr std::string_view kJobVariables[] = {
    "CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "GROUP_RANK",
    "GROUP_WORLD_SIZE",     "KMP_AFFINITY",         "LOCAL_WORLD_SIZE",
    "MASTER_PORT",          "MKL_NUM_THREADS",      "NCCL_ALGO",
    "NCCL_PROTO",           "OMP_NUM_THREADS",      "PYTORCH_CUDA_ALLOC_CONF",
    "SLURM_JOB_ID",         "SLURM_NNODES",         "SLURM_NODEID",
    "TORCHELASTIC_RUN_ID"};

bool IsJobVariable(std::string_view name) {
  if (std::find(std::begin(kJobVariables), std::end(kJobVariables), name) !=
      std::end(kJobVariables)) {
    return true;
  }
  return std::any_of(
      std::begin(format::kLaunchers), std::end(format::kLaunchers), [&](const auto& launcher) {
        return name == launcher.rank || name == launcher.world_size || name == launcher.local_rank;
      });
}

// The text after `key` and what separates it, on the first line of `path` that starts with it.
std::string ValueInFile(const char* path, std::string_view key, std::string_view separators) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(separators, key.size());
    const size_t end = line.find_last_not_of(separators);
    if (begin != std::string::npos) return line.substr(begin, end - begin + 1);
  }
  return {};
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  ...": the first word with a digit
// and a dot.
std::string GpuDriverVersion() {
  const std::string text = ValueInFile("/proc/driver/nvidia/version", "NVRM version", ": \t");
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != std::string::npos) {
      return word;
    }
    begin = end + 1;
  }
  return {};
}

// Of the flags of an x86 processor: whether it has what PyTorch's fast 16-bit products need.
std::string HasAvx512(const std::string& flags) {
  if (flags.empty()) return {};
  return (flags + ' ').find(" avx512bw ") != std::string::npos ? "yes" : "no";
}

// Processors that this process and its children may use, where they are not all of the machine.
std::string UsableCores(long all) {
  const auto usable = static_cast<long>(ProcessorCount());
  return usable < all ? std::to_string(usable) : "";
}

// What the kernel knows of its own clock. A container may forbid to ask, though nothing is set.
void AddClockFacts(Facts& facts) {
  timex clock{};
  if (adjtimex(&clock) < 0) return;
  const bool is_kept = (clock.status & STA_UNSYNC) == 0;
  facts.emplace_back("machine.clock_error_us", std::to_string(clock.maxerror));
  facts.emplace_back("machine.clock_synchronized", is_kept ? "yes" : "no");
}

}  // namespace

format::Machine ThisMachine() {
  format::Machine machine{};
  const std::string boot_id = FirstLineOf("/proc/sys/kernel/random/boot_id");
  boot_id.copy(machine.boot_id, sizeof machine.boot_id - 1);
  (void)gethostname(machine.host, sizeof machine.host - 1);
  struct stat info {};
  if (stat("/proc/self/ns/pid", &info) == 0) machine.pid_namespace = info.st_ino;
  return machine;
}

Facts MachineFacts() {
  Facts facts;
  const auto add = [&](const char* key, std::string value) {
    if (!value.empty()) facts.emplace_back(key, std::move(value));
  };
  add("machine.cpu", ValueInFile("/proc/cpuinfo", "model name", ": \t"));
  add("machine.avx512", HasAvx512(ValueInFile("/proc/cpuinfo", "flags", ": \t")));
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  add("machine.cores", std::to_string(cores));
  add("machine.usable_cores", UsableCores(cores));
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0) {
    add("machine.memory_bytes", std::to_string(uint64_t{memory.totalram} * memory.mem_unit));
  }
  utsname names{};
  if (uname(&names) == 0) {
    add("machine.hostname", names.nodename);
    add("machine.kernel", std::string(names.sysname) + " " + names.release);
  }
  AddClockFacts(facts);
  add("machine.os", ValueInFile("/etc/os-release", "PRETTY_NAME", "=\""));
  add("machine.gpu_driver", GpuDriverVersion());
  return facts;
}

Facts EnvironmentFacts(const std::vector<std::string>& environment, bool all) {
  Facts facts;
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = entry.substr(0, equals);
    if (!all && !IsJobVariable(name)) continue;
    const std::string key = "environment." + name;
    facts.emplace_back(key, format::PropertyWithoutSecrets(key, entry.substr(equals + 1)));
  }
  return facts;
}

}  // namespace batchlight::capture
