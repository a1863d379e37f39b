#include "capture/usage/machine_counts.h"

#include <unistd.h>

#include "base/split.h"
#include "capture/loop/clock.h"

namespace batchlight::capture {
namespace {

uint64_t PressureNs(KernelFile& file) {
  constexpr uint64_t kMicrosecondNs = 1000;
  return NumberBehind(file.Read(), "total=") * kMicrosecondNs;  // the first line: some
}

}  // namespace

void MachineCounts::Read(format::MachineUsageRecord& usage) {
  usage = {};
  ReadProcessors(usage);
  std::string_view load = load_.Read();  // "0.01 0.08 0.71 2/345 6789"
  for (int average = 0; average < 3; ++average) TakeWord(load);
  usage.runnable = static_cast<uint32_t>(TakeNumber(load));
  usage.tool_ns = static_cast<uint64_t>(ClockNow(CLOCK_PROCESS_CPUTIME_ID));
  usage.cpu_pressure_ns = PressureNs(cpu_pressure_);
  usage.io_pressure_ns = PressureNs(io_pressure_);
  usage.memory_pressure_ns = PressureNs(memory_pressure_);
  constexpr uint64_t kKilobyte = 1024;
  usage.available_bytes = NumberBehind(memory_.Read(), "MemAvailable:") * kKilobyte;
  ReadGroup(usage);
}

// Lines "cpu0 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", before all others.
void MachineCounts::ReadProcessors(format::MachineUsageRecord& usage) {
  (void)sched_getaffinity(pid_, sizeof processors_, processors_.data());
  std::string_view text = stat_.Read();
  TakeLine(text);  // the sum
  while (text.starts_with("cpu")) {
    std::string_view line = TakeLine(text);
    const uint64_t number = NumberBehind(line, "cpu");
    if (!CPU_ISSET_S(number, sizeof processors_, processors_.data())) continue;
    TakeWord(line);
    std::array<uint64_t, 8> ticks{};
    for (uint64_t& tick : ticks) tick = TakeNumber(line);
    ++usage.processors;
    usage.busy_ns += (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * TickNs();
    usage.stolen_ns += ticks[7] * TickNs();
  }
}

void MachineCounts::ReadGroup(format::MachineUsageRecord& usage) {
  const auto unit_ns = static_cast<uint64_t>(limits_.unit_ns);
  usage.group_limit = static_cast<uint64_t>(limits_.processors * 1000 + 0.5);
  usage.group_cpu_ns = NumberBehind(group_time_.Read(), limits_.time_key) * unit_ns;
  const std::string_view counts = group_counts_.Read();
  usage.group_periods = NumberBehind(counts, kPeriodsKey);
  usage.group_throttled_periods = NumberBehind(counts, kThrottledPeriodsKey);
  usage.group_throttled_ns = NumberBehind(counts, limits_.throttled_key) * unit_ns;
  usage.group_memory_bytes = NumberBehind(group_memory_.Read(), "");
  if (limits_.memory_bytes != kNoMemoryLimit) {
    usage.group_memory_limit_bytes = limits_.memory_bytes;
  }
}

}  // namespace batchlight::capture
