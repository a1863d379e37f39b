#include "analysis/cpu/usage.h"

#include <algorithm>
#include <map>

#include "analysis/cpu/usage_looks.h"

namespace batchlight {
namespace {

// Adds the part of a growth between two looks that lies in a stretch of time.
class Part {
 public:
  Part(TimeSpan within, int64_t from_ns, int64_t to_ns)
      : inside_ns_(double(std::max<int64_t>(
            0, std::min(to_ns, within.end_ns) - std::max(from_ns, within.start_ns)))),
        share_(inside_ns_ / double(to_ns - from_ns)) {}

  double inside_ns() const { return inside_ns_; }
  bool empty() const { return inside_ns_ <= 0; }
  // Numbers of damaged recordings may fall.
  template <typename Value>
  void Add(const std::vector<Value>& values, size_t before, size_t row, double& sum) const {
    if (values[row] > values[before]) sum += double(values[row] - values[before]) * share_;
  }

 private:
  double inside_ns_;
  double share_;
};

// In shorter times the kernel's counts, in hundredths of a second, say little.
constexpr double kLongEnoughNs = 3e8;
constexpr double kFull = 0.85;      // of the processors
constexpr double kTaken = 0.2;      // of them, by others
constexpr double kStolen = 0.05;    // of them, by the hypervisor
constexpr double kThrottled = 0.1;  // of the periods

bool IsIn(TimeSpan within, int64_t at_ns) {
  return at_ns >= within.start_ns && at_ns <= within.end_ns;
}

}  // namespace

std::vector<ProcessUse> SumProcessUse(const Store& store, TimeSpan within) {
  const ProcessUsageTable& looks = store.process_usage;
  std::map<ProcessId, ProcessUse> uses;
  for (size_t row = 0; row < looks.size(); ++row) {
    if (looks.process[row].IsNone() || !IsIn(within, looks.start_ns[row])) continue;
    ProcessUse& use = uses[looks.process[row]];
    use.process = looks.process[row];
    use.peak_bytes = std::max(use.peak_bytes, looks.memory_bytes[row]);
    use.most_threads = std::max(use.most_threads, looks.threads[row]);
    if (looks.memory_bytes[row] > 0) use.last_bytes = looks.memory_bytes[row];  // 0: it has ended
    use.processors = looks.processors[row];
  }
  VisitLooks(
      store, looks, [&](size_t row) { return looks.process[row]; },
      [&](ProcessId process, size_t before, size_t row) {
        const Part part(within, looks.start_ns[before], looks.start_ns[row]);
        if (process.IsNone() || part.empty()) return;
        ProcessUse& use = uses[process];
        use.process = process;
        const double until_ns = use.user_ns + use.system_ns;
        part.Add(looks.user_ns, before, row, use.user_ns);
        part.Add(looks.system_ns, before, row, use.system_ns);
        part.Add(looks.first_ran_ns, before, row, use.first_ran_ns);
        part.Add(looks.first_waited_ns, before, row, use.first_waited_ns);
        part.Add(looks.read_bytes, before, row, use.read_bytes);
        part.Add(looks.written_bytes, before, row, use.written_bytes);
        use.looked_ns += part.inside_ns();
        double processors = (use.user_ns + use.system_ns - until_ns) / part.inside_ns();
        // Of a program that it has waited for, all counts at once.
        if (looks.processors[row] > 0)
          processors = std::min(processors, double(looks.processors[row]));
        use.most_processors = std::max(use.most_processors, processors);
      });
  std::vector<ProcessUse> sums;
  for (const auto& [process, use] : uses) sums.push_back(use);
  std::stable_sort(sums.begin(), sums.end(), [](const ProcessUse& a, const ProcessUse& b) {
    return a.user_ns + a.system_ns > b.user_ns + b.system_ns;
  });
  return sums;
}

MachineUse SumMachineUse(const Store& store, TimeSpan within) {
  const MachineUsageTable& looks = store.machine_usage;
  MachineUse use;
  std::map<uint32_t, double> by_processors;  // ns
  VisitLooks(
      store, looks, [](size_t) { return 0; },
      [&](int, size_t before, size_t row) {
        const Part part(within, looks.start_ns[before], looks.start_ns[row]);
        // Of other processors than before, nothing can be told.
        if (part.empty() || looks.processors[before] != looks.processors[row]) return;
        use.looked_ns += part.inside_ns();
        use.processor_ns += part.inside_ns() * looks.processors[row];
        by_processors[looks.processors[row]] += part.inside_ns();
        part.Add(looks.busy_ns, before, row, use.busy_ns);
        part.Add(looks.stolen_ns, before, row, use.stolen_ns);
        part.Add(looks.tool_ns, before, row, use.tool_ns);
        part.Add(looks.cpu_pressure_ns, before, row, use.cpu_pressure_ns);
        part.Add(looks.group_periods, before, row, use.periods);
        part.Add(looks.group_throttled_periods, before, row, use.throttled_periods);
        use.group_limit = looks.group_limit[row];
        use.group_peak_bytes = std::max(use.group_peak_bytes, looks.group_memory_bytes[row]);
        use.group_limit_bytes = looks.group_memory_limit_bytes[row];
        const uint64_t available = looks.available_bytes[row];
        use.least_available_bytes = use.least_available_bytes == 0
                                        ? available
                                        : std::min(use.least_available_bytes, available);
      });
  const auto longest =
      std::max_element(by_processors.begin(), by_processors.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest != by_processors.end()) use.processors = longest->first;
  for (const ProcessUse& process : SumProcessUse(store, within)) {
    use.program_ns += process.user_ns + process.system_ns;
  }
  return use;
}

bool IsCrowded(const MachineUse& use) {
  if (use.looked_ns < kLongEnoughNs || use.processors == 0) return false;
  return use.BusyShare() >= kFull && use.Processors(use.OthersNs()) >= kTaken * use.processors;
}

bool IsThrottled(const MachineUse& use) { return use.ThrottledShare() >= kThrottled; }

bool IsStolenFrom(const MachineUse& use) {
  if (use.looked_ns < kLongEnoughNs || use.processors == 0) return false;
  return use.Processors(use.stolen_ns) >= kStolen * use.processors;
}

}  // namespace batchlight
