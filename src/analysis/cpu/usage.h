// What processes and the machine used up, from looks at the kernel's counts (process_usage,
// machine_usage, network_usage).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "store/store.h"

namespace batchlight {

// Of one process, between its first and its last look within captures.
struct ProcessUse {
  ProcessId process;
  double looked_ns = 0;  // between looks
  double user_ns = 0;
  double system_ns = 0;
  double first_ran_ns = 0;     // of its first thread
  double first_waited_ns = 0;  // in which that could run and had no processor
  double read_bytes = 0;       // from and to disks
  double written_bytes = 0;
  double most_processors = 0;  // between two looks
  uint64_t peak_bytes = 0;     // resident
  uint64_t last_bytes = 0;     // before it ended
  uint32_t most_threads = 0;
  uint32_t processors = 0;  // that its first thread may run on, at last; 0: not known

  double Processors() const { return looked_ns > 0 ? (user_ns + system_ns) / looked_ns : 0; }
};

// Of the machine: all times are sums over the processors that the program may run on.
struct MachineUse {
  double looked_ns = 0;     // wall time; 0: not known
  double processors = 0;    // a whole number, that of most of the time: imports may pin a thread
  double processor_ns = 0;  // that they had
  double busy_ns = 0;
  double stolen_ns = 0;        // by the hypervisor
  double program_ns = 0;       // of the program's processes
  double tool_ns = 0;          // of the recorder
  double cpu_pressure_ns = 0;  // wall time in which some thread waited for a processor
  double periods = 0;          // of the control group's quota
  double throttled_periods = 0;
  double group_limit = 0;  // processors; 0: none
  uint64_t group_peak_bytes = 0;
  uint64_t group_limit_bytes = 0;  // 0: none
  uint64_t least_available_bytes = 0;

  double OthersNs() const { return std::max(0.0, busy_ns - program_ns - tool_ns); }
  // Processors on average.
  double Processors(double ns) const { return looked_ns > 0 ? ns / looked_ns : 0; }
  double BusyShare() const { return processor_ns > 0 ? (busy_ns + stolen_ns) / processor_ns : 0; }
  double ThrottledShare() const { return periods > 0 ? throttled_periods / periods : 0; }
};

// What is used up between two looks counts evenly over that time; of that, what lies in `within`.
// By processor time.
std::vector<ProcessUse> SumProcessUse(const Store& store, TimeSpan within = kAllTime);
MachineUse SumMachineUse(const Store& store, TimeSpan within = kAllTime);

enum class UsageUnit : uint8_t { kProcessors, kBytes, kBytesPerSecond };

// Whether others kept the machine's processors from the program: full, and a good part of it
// theirs; stopped by the control group's quota; or taken away by the hypervisor.
bool IsCrowded(const MachineUse& use);
bool IsThrottled(const MachineUse& use);
bool IsStolenFrom(const MachineUse& use);

// What nobody looked at: before the first look, after the last, between captures.
inline constexpr double kUnknownUsage = std::numeric_limits<double>::quiet_NaN();

// A counter over time: a value, or kUnknownUsage, holds from its time to that of the next.
struct UsageSeries {
  ProcessId process;  // None: of the machine
  std::string title;
  UsageUnit unit = UsageUnit::kProcessors;
  std::string_view table;  // of the store, whose looks it is made of
  std::vector<std::pair<int64_t, double>> values;
};

// Of every process: processors used, resident memory, bytes a second from and to disks, and, with
// one of those that see it, of each network interface. Of the machine: processors that are busy,
// and those that other programs use. Without those that are 0 all the time.
std::vector<UsageSeries> FindUsageSeries(const Store& store);

}  // namespace batchlight
