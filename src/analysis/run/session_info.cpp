#include "analysis/run/session_info.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace batchlight {
namespace {

struct Fact {
  std::string_view key;
  std::string_view label;
};

constexpr std::string_view kCudaOfPyTorch = "CUDA of PyTorch";

constexpr Fact kSoftware[] = {
    {"python.version", "Python"},
    {"torch.version", "PyTorch"},
    {"torch.cuda_version", kCudaOfPyTorch},
    {"cuda.driver_version", "CUDA driver"},
    {"cuda.runtime_version", "CUDA runtime"},
    {"cudnn.version", "cuDNN"},
    {"nccl.version", "NCCL"},
};

constexpr Fact kMachine[] = {
    {"machine.hostname", "Host"},
    {"machine.cpu", "CPU"},
};

constexpr Fact kSystem[] = {
    {"machine.os", "System"},
    {"machine.kernel", "Kernel"},
};

template <size_t kCount>
void AddFacts(const Store& store, const Fact (&facts)[kCount],
              std::vector<std::pair<std::string, std::string>>& out) {
  for (const Fact& fact : facts) {
    const std::string_view value = store.Property(fact.key);
    if (!value.empty() && value != "none") out.emplace_back(fact.label, value);
  }
}

// "2 of 16": where the job may not use all.
void AddProcessors(const Store& store, SessionInfo& info) {
  const std::string_view all = store.Property("machine.cores");
  const std::string_view usable = store.Property("machine.usable_cores");
  if (all.empty()) return;
  info.machine.emplace_back("Processors", usable.empty()
                                              ? std::string(all)
                                              : std::string(usable) + " of " + std::string(all));
}

void AddMemory(const Store& store, SessionInfo& info) {
  const std::string bytes(store.Property("machine.memory_bytes"));
  const uint64_t value = std::strtoull(bytes.c_str(), nullptr, 10);
  if (value == 0) return;
  info.machine.emplace_back("Memory", std::to_string((value + (1 << 29)) >> 30) + " GiB");
}

void AddGpus(const Store& store, SessionInfo& info) {
  for (size_t first = 0; first < store.gpus.size();) {
    size_t next = first + 1;
    while (next < store.gpus.size() && store.gpus.name[next] == store.gpus.name[first]) ++next;
    std::string text(store.Text(store.gpus.name[first]));
    if (next - first > 1) text = std::to_string(next - first) + " x " + text;
    info.machine.emplace_back("GPU", text);
    first = next;
  }
}

// The command of the session; without one, that of the first process.
std::string FindCommand(const Store& store) {
  const std::string_view command = store.Property("session.command");
  if (!command.empty()) return std::string(command);
  for (size_t i = 0; i < store.processes.size(); ++i) {
    const std::string_view line = store.Text(store.processes.command_line[i]);
    if (!line.empty()) return std::string(line);
  }
  return "";
}

class EventCount {
 public:
  EventCount(const Store& store, SessionInfo& info) : store_(store), info_(info) {}

  void Run() {
    per_thread_.resize(store_.threads.size());
    CountThreads(store_.nvtx_ranges);
    CountThreads(store_.nvtx_marks);
    CountThreads(store_.module_calls);
    CountThreads(store_.phase_calls);
    CountThreads(store_.operator_calls);
    CountThreads(store_.api_calls);
    CountThreads(store_.os_calls);
    for (size_t row = 0; row < per_thread_.size(); ++row) {
      AddTo(store_.threads.process[row], per_thread_[row]);
    }
    CountProcesses(store_.kernels);
    CountProcesses(store_.memcpys);
    CountProcesses(store_.memsets);
    CountProcesses(store_.synchronizations);
  }

 private:
  void AddTo(ProcessId process, uint64_t count) {
    info_.events += count;
    if (!process.IsNone()) info_.processes[process.row()].events += count;
  }
  template <typename Table>
  void CountThreads(const Table& table) {
    for (const ThreadId thread : table.thread) {
      if (!thread.IsNone()) ++per_thread_[thread.row()];
    }
  }
  template <typename Table>
  void CountProcesses(const Table& table) {
    for (const ProcessId process : table.process) AddTo(process, 1);
  }

  const Store& store_;
  SessionInfo& info_;
  std::vector<uint64_t> per_thread_;
};

}  // namespace

std::string ProcessInfo::ExitText() const {
  if (exit_signal > 0) {
    const char* short_name = sigabbrev_np(exit_signal);
    return "signal " + std::to_string(exit_signal) +
           (short_name != nullptr ? std::string(" (SIG") + short_name + ")" : "");
  }
  if (exit_code >= 0) return "exit " + std::to_string(exit_code);
  // exit() and _exit() would have said so, and the parent, when it was told.
  if (replaced) return "became another program";
  if (vanished) return "killed, or left by a system call of its own";
  return "end unknown";
}

SessionInfo DescribeSession(const Store& store) {
  SessionInfo info{.source = store.source,
                   .source_format = store.source_format,
                   .command = FindCommand(store),
                   .working_directory = std::string(store.Property("session.cwd")),
                   .start_utc_ns = store.session_start_utc_ns,
                   .duration_ns = store.duration_ns};
  std::map<uint32_t, size_t> last_of_pid;
  for (size_t i = 0; i < store.processes.size(); ++i) {
    const ProcessesRow row = store.processes.Row(i);
    info.processes.push_back(
        {.process = ProcessId::At(i),
         .pid = row.pid,
         .parent = row.parent.IsNone() ? -1 : static_cast<int32_t>(row.parent.row()),
         .rank = row.rank,
         .name = std::string(store.Text(row.name)),
         .command_line = std::string(store.Text(row.command_line)),
         .start_ns = row.start_ns,
         .end_ns = row.end_ns,
         .exit_code = row.exit_code,
         .exit_signal = row.exit_signal,
         // One that was seen from outside alone has no command line, and would not have said so.
         .vanished = store.source_format == "batchlight" && row.end_ns != kOpenEnd &&
                     !store.Text(row.command_line).empty() && row.exit_code < 0 &&
                     row.exit_signal <= 0});
    const auto [earlier, first] = last_of_pid.try_emplace(row.pid, i);
    if (!first) info.processes[std::exchange(earlier->second, i)].replaced = true;
  }
  for (const ProcessId process : store.threads.process) {
    if (!process.IsNone()) ++info.processes[process.row()].threads;
  }
  EventCount(store, info).Run();
  AddFacts(store, kSoftware, info.software);
  // PyTorch says it of a machine without a GPU too.
  if (store.gpus.size() == 0 && store.kernels.size() == 0) {
    std::erase_if(info.software, [](const auto& fact) { return fact.first == kCudaOfPyTorch; });
  }
  AddFacts(store, kMachine, info.machine);
  AddProcessors(store, info);
  AddFacts(store, kSystem, info.machine);
  AddMemory(store, info);
  AddGpus(store, info);
  return info;
}

}  // namespace batchlight
