#include "capture/usage/process_counts.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

// Of /proc/PID/stat, counted from the word behind the program's name.
constexpr int kSystemTicks = 12, kThreads = 17, kResidentPages = 21;
constexpr int kWords = kResidentPages + 1;

const auto kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));

std::string Path(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + file; }

// For up to 8192 of them: beyond, not known.
uint32_t ProcessorsOf(pid_t pid) {
  std::array<cpu_set_t, 8> processors;
  if (sched_getaffinity(pid, sizeof processors, processors.data()) != 0) return 0;
  return static_cast<uint32_t>(CPU_COUNT_S(sizeof processors, processors.data()));
}

}  // namespace

ProcessCounts::ProcessCounts(pid_t pid)
    : pid_(pid),
      stat_(Path(pid, "/stat")),
      disk_(Path(pid, "/io")),
      schedule_(Path(pid, "/schedstat")) {}

bool ProcessCounts::Read(format::ProcessUsageRecord& usage) {
  usage = {};
  usage.pid = static_cast<uint32_t>(pid_);
  std::string_view stat = stat_.Read();
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string_view::npos) return false;
  stat.remove_prefix(name_end + 1);
  std::array<uint64_t, kWords> words{};
  for (uint64_t& word : words) word = TakeNumber(stat);
  usage.threads = static_cast<uint32_t>(words[kThreads]);
  usage.resident_bytes = words[kResidentPages] * kPageBytes;
  ReadTimes(words[kSystemTicks] * TickNs(), usage);
  const std::string_view disk = disk_.Read();
  usage.read_bytes = NumberBehind(disk, "\nread_bytes: ");
  usage.written_bytes = NumberBehind(disk, "\nwrite_bytes: ");
  std::string_view schedule = schedule_.Read();
  usage.first_ran_ns = TakeNumber(schedule);
  usage.first_waited_ns = TakeNumber(schedule);
  usage.processors = ProcessorsOf(pid_);
  return true;
}

// stat counts in hundredths of a second, the process's clock in nanoseconds.
void ProcessCounts::ReadTimes(uint64_t system_ns, format::ProcessUsageRecord& usage) {
  clockid_t clock{};
  uint64_t total_ns = 0;
  if (clock_getcpuclockid(pid_, &clock) == 0) total_ns = static_cast<uint64_t>(ClockNow(clock));
  total_ns = std::max(total_ns, user_ns_ + system_ns_);
  system_ns_ = std::clamp(system_ns, system_ns_, total_ns - user_ns_);
  user_ns_ = total_ns - system_ns_;
  usage.user_ns = user_ns_;
  usage.system_ns = system_ns_;
}

}  // namespace batchlight::capture
