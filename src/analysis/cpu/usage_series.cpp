#include <map>

#include "analysis/cpu/usage.h"
#include "analysis/cpu/usage_looks.h"

namespace batchlight {
namespace {

constexpr double kSecondNs = 1e9;

// Series in the order in which they are first asked for.
class SeriesSet {
 public:
  UsageSeries& Of(std::string_view table, ProcessId process, std::string title, UsageUnit unit) {
    const auto [place, is_new] = places_.try_emplace({process, title}, series_.size());
    if (is_new) series_.push_back({process, std::move(title), unit, table, {}});
    return series_[place->second];
  }

  // `value` holds between both times, and `after` from then on.
  static void Add(UsageSeries& series, int64_t from_ns, int64_t to_ns, double value,
                  double after = kUnknownUsage) {
    auto& values = series.values;
    if (!values.empty() && values.back().first == from_ns) values.pop_back();
    values.emplace_back(from_ns, value);
    values.emplace_back(to_ns, after);
  }

  // Of those of a table nothing is known from then on.
  void End(std::string_view table, int64_t at_ns) {
    for (UsageSeries& series : series_) {
      if (series.table != table) continue;
      while (!series.values.empty() && series.values.back().first >= at_ns)
        series.values.pop_back();
      series.values.emplace_back(at_ns, kUnknownUsage);
    }
  }

  std::vector<UsageSeries> Take() {
    std::erase_if(series_, [](const UsageSeries& series) {
      return std::all_of(series.values.begin(), series.values.end(),
                         [](const auto& value) { return !(value.second > 0); });
    });
    return std::move(series_);
  }

 private:
  std::vector<UsageSeries> series_;
  std::map<std::pair<ProcessId, std::string>, size_t> places_;
};

template <typename Value>
double Growth(const std::vector<Value>& values, size_t before, size_t row) {
  return values[row] > values[before] ? double(values[row] - values[before]) : 0;
}

void AddProcesses(const Store& store, SeriesSet& set) {
  const ProcessUsageTable& looks = store.process_usage;
  VisitLooks(
      store, looks, [&](size_t row) { return looks.process[row]; },
      [&](ProcessId process, size_t before, size_t row) {
        if (process.IsNone()) return;
        const int64_t from_ns = looks.start_ns[before], to_ns = looks.start_ns[row];
        const auto took_ns = double(to_ns - from_ns);
        const auto add = [&](const char* title, UsageUnit unit, double value) {
          SeriesSet::Add(set.Of(looks.kName, process, title, unit), from_ns, to_ns, value);
        };
        const double cpu_ns =
            Growth(looks.user_ns, before, row) + Growth(looks.system_ns, before, row);
        add("processors used", UsageUnit::kProcessors, cpu_ns / took_ns);
        add("resident memory", UsageUnit::kBytes, double(looks.memory_bytes[before]));
        add("read from disks", UsageUnit::kBytesPerSecond,
            Growth(looks.read_bytes, before, row) / took_ns * kSecondNs);
        add("written to disks", UsageUnit::kBytesPerSecond,
            Growth(looks.written_bytes, before, row) / took_ns * kSecondNs);
      });
}

// Processor time of the program's processes at moments between looks.
class ProgramTime {
 public:
  explicit ProgramTime(const Store& store) {
    const ProcessUsageTable& looks = store.process_usage;
    std::map<int64_t, double> slopes;  // changes of the processors that are used
    VisitLooks(
        store, looks, [&](size_t row) { return looks.process[row]; },
        [&](ProcessId, size_t before, size_t row) {
          const double cpu_ns =
              Growth(looks.user_ns, before, row) + Growth(looks.system_ns, before, row);
          const double slope = cpu_ns / double(looks.start_ns[row] - looks.start_ns[before]);
          slopes[looks.start_ns[before]] += slope;
          slopes[looks.start_ns[row]] -= slope;
        });
    double slope = 0, sum_ns = 0;
    int64_t last_ns = 0;
    for (const auto& [at_ns, change] : slopes) {
      if (!points_.empty()) sum_ns += slope * double(at_ns - last_ns);
      points_.push_back({at_ns, sum_ns});
      slope += change;
      last_ns = at_ns;
    }
  }

  // Up to that moment.
  double At(int64_t at_ns) const {
    const auto after = std::partition_point(
        points_.begin(), points_.end(), [&](const auto& point) { return point.first <= at_ns; });
    if (after == points_.begin()) return 0;
    const auto before = after - 1;
    if (after == points_.end()) return before->second;
    return before->second + (after->second - before->second) * double(at_ns - before->first) /
                                double(after->first - before->first);
  }

 private:
  std::vector<std::pair<int64_t, double>> points_;
};

void AddMachine(const Store& store, SeriesSet& set) {
  const MachineUsageTable& looks = store.machine_usage;
  const ProgramTime program(store);
  // The kernel counts in ticks of 10 ms, and a look reads its count a moment after its time: what
  // a look has more of than its processors had time is the next look's.
  double carried_ns = 0;
  VisitLooks(
      store, looks, [](size_t) { return 0; },
      [&](int, size_t before, size_t row) {
        if (looks.processors[before] != looks.processors[row]) return;
        const int64_t from_ns = looks.start_ns[before], to_ns = looks.start_ns[row];
        const auto took_ns = double(to_ns - from_ns);
        const double counted_ns =
            carried_ns + Growth(looks.busy_ns, before, row) + Growth(looks.stolen_ns, before, row);
        const double busy_ns = std::min(counted_ns, took_ns * looks.processors[row]);
        carried_ns = counted_ns - busy_ns;
        const double own_ns =
            Growth(looks.tool_ns, before, row) + program.At(to_ns) - program.At(from_ns);
        SeriesSet::Add(set.Of(looks.kName, {}, "processors busy", UsageUnit::kProcessors), from_ns,
                       to_ns, busy_ns / took_ns);
        SeriesSet::Add(set.Of(looks.kName, {}, "processors used by others", UsageUnit::kProcessors),
                       from_ns, to_ns, std::max(0.0, busy_ns - own_ns) / took_ns);
      });
}

// The interface is written when it has carried something: before that, it had not since the last
// look, and after that, not until the last one of all.
void AddNetwork(const Store& store, SeriesSet& set) {
  const NetworkUsageTable& looks = store.network_usage;
  const MachineUsageTable& clock = store.machine_usage;
  VisitLooks(
      store, looks, [&](size_t row) { return std::pair(looks.process[row], looks.interface[row]); },
      [&](const std::pair<ProcessId, StringId>& key, size_t before, size_t row) {
        const int64_t to_ns = looks.start_ns[row];
        const auto look = std::partition_point(clock.start_ns.begin(), clock.start_ns.end(),
                                               [&](int64_t at_ns) { return at_ns < to_ns; });
        const int64_t last_ns = look == clock.start_ns.begin() ? 0 : *(look - 1);
        const int64_t from_ns = std::max(looks.start_ns[before], last_ns);
        if (from_ns >= to_ns) return;
        const auto add = [&](const char* what, const std::vector<uint64_t>& bytes) {
          const std::string title = "network " + std::string(store.Text(key.second)) + " " + what;
          SeriesSet::Add(set.Of(looks.kName, key.first, title, UsageUnit::kBytesPerSecond), from_ns,
                         to_ns, Growth(bytes, before, row) / double(to_ns - from_ns) * kSecondNs,
                         0);
        };
        add("received", looks.received_bytes);
        add("sent", looks.sent_bytes);
      });
  if (clock.size() > 0) set.End(looks.kName, clock.start_ns.back());
}

}  // namespace

std::vector<UsageSeries> FindUsageSeries(const Store& store) {
  SeriesSet set;
  AddProcesses(store, set);
  AddMachine(store, set);
  AddNetwork(store, set);
  return set.Take();
}

}  // namespace batchlight
