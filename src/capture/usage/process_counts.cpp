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
constexpr int kParent = 1, kSystemTicks = 12, kWaitedUserTicks = 13, kWaitedSystemTicks = 14,
              kThreads = 17, kResidentPages = 21;
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
      has_clock_(clock_getcpuclockid(pid, &clock_) == 0),
      stat_(Path(pid, "/stat")),
      disk_(Path(pid, "/io")),
      schedule_(Path(pid, "/schedstat")),
      children_(Path(pid, ("/task/" + std::to_string(pid) + "/children").c_str())) {}

bool ProcessCounts::Read(bool again, format::ProcessUsageRecord& usage) {
  usage = {};
  usage.pid = static_cast<uint32_t>(pid_);
  std::string_view stat = stat_.Read();
  const size_t name_end = stat.rfind(')');  // the name may hold anything
  if (name_end == std::string_view::npos) return false;
  const size_t name_begin = std::min(stat.find('(') + 1, name_end);
  name_ = stat.substr(name_begin, name_end - name_begin);
  stat.remove_prefix(name_end + 1);
  std::array<uint64_t, kWords> words{};
  for (uint64_t& word : words) word = TakeNumber(stat);
  parent_ = static_cast<pid_t>(words[kParent]);
  waited_for_ = {words[kWaitedUserTicks] * TickNs(), words[kWaitedSystemTicks] * TickNs()};
  usage.threads = static_cast<uint32_t>(words[kThreads]);
  usage.resident_bytes = words[kResidentPages] * kPageBytes;
  const bool has_run = ReadTimes(words[kSystemTicks] * TickNs(), usage);
  if (has_run || again) ReadDisk();
  usage.read_bytes = read_bytes_;
  usage.written_bytes = written_bytes_;
  std::string_view schedule = schedule_.Read();
  usage.first_ran_ns = TakeNumber(schedule);
  usage.first_waited_ns = TakeNumber(schedule);
  if (again) processors_ = ProcessorsOf(pid_);
  usage.processors = processors_;
  return true;
}

void ProcessCounts::ReadDisk() {
  const std::string_view disk = disk_.Read();
  read_bytes_ = NumberBehind(disk, "\nread_bytes: ");
  written_bytes_ = NumberBehind(disk, "\nwrite_bytes: ");
}

void ProcessCounts::AddChildren(std::vector<pid_t>& pids) {
  for (std::string_view text = children_.Read(); !text.empty();) {
    const auto pid = static_cast<pid_t>(TakeNumber(text));
    if (pid > 0) pids.push_back(pid);
  }
}

// stat counts in hundredths of a second, the process's clock in nanoseconds.
bool ProcessCounts::ReadTimes(uint64_t system_ns, format::ProcessUsageRecord& usage) {
  const uint64_t before_ns = user_ns_ + system_ns_;
  uint64_t total_ns = has_clock_ ? static_cast<uint64_t>(ClockNow(clock_)) : 0;
  total_ns = std::max(total_ns, before_ns);
  system_ns_ = std::clamp(system_ns, system_ns_, total_ns - user_ns_);
  user_ns_ = total_ns - system_ns_;
  usage.user_ns = user_ns_;
  usage.system_ns = system_ns_;
  return total_ns != before_ns;
}

}  // namespace batchlight::capture
