#include "analysis/launch_queue.h"

#include <algorithm>
#include <map>

namespace batchlight {
namespace {

struct Launch {
  int64_t call_ns;
  int64_t start_ns;
};

// What one process launched on one device, in order of the calls.
using Launches = std::vector<Launch>;

class Launched {
 public:
  explicit Launched(const Store& store) : store_(store) {
    Add(store.kernels);
    Add(store.memcpys);
    Add(store.memsets);
    Add(store.graph_launches);
    for (auto& [key, launches] : found_) {
      std::sort(launches.begin(), launches.end(),
                [](const Launch& a, const Launch& b) { return a.call_ns < b.call_ns; });
    }
  }
  const std::map<std::pair<uint32_t, uint32_t>, Launches>& found() const { return found_; }

 private:
  template <typename Table>
  void Add(const Table& table) {
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.api_call[row].IsNone() || table.process[row].IsNone()) continue;
      const int64_t call_ns = store_.api_calls.start_ns[table.api_call[row].row()];
      // Clocks of CPU and GPU differ by less than a microsecond: no work starts before its call.
      found_[{table.process[row].value, table.device[row]}].push_back(
          {call_ns, std::max(call_ns, table.start_ns[row])});
    }
  }

  const Store& store_;
  std::map<std::pair<uint32_t, uint32_t>, Launches> found_;
};

// Depth over [from, to): one point wherever it changes.
std::vector<QueuePoint> DepthOf(const Launches& launches, size_t begin, size_t end, int64_t from,
                                int64_t to) {
  std::vector<int64_t> starts;
  // Work of earlier calls may still be queued when the step begins.
  constexpr size_t kLookBack = 4096;
  const size_t first = begin - std::min(begin, kLookBack);
  uint32_t depth = 0;
  for (size_t i = first; i < end; ++i) {
    if (launches[i].start_ns <= from) continue;
    depth += i < begin;
    starts.push_back(launches[i].start_ns);
  }
  std::sort(starts.begin(), starts.end());
  std::vector<QueuePoint> points = {{from, depth}};
  size_t call = begin;
  size_t start = 0;
  const auto add = [&](int64_t time_ns) {
    if (points.back().time_ns == time_ns)
      points.back().depth = depth;
    else
      points.push_back({time_ns, depth});
  };
  while (call < end || start < starts.size()) {
    const bool is_call =
        call < end && (start == starts.size() || launches[call].call_ns <= starts[start]);
    const int64_t time_ns = is_call ? launches[call].call_ns : starts[start];
    if (time_ns >= to) break;
    if (is_call) {
      ++call;
      if (launches[call - 1].start_ns <= from) continue;
      ++depth;
    } else {
      ++start;
      --depth;
    }
    add(time_ns);
  }
  points.push_back({to, 0});
  return points;
}

int64_t Quantile(std::vector<int64_t>& values, double fraction) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(fraction * double(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

// The row of the step that counts whose length is nearest to the median.
size_t MedianStep(const ProcessSteps& process) {
  size_t best = process.steady.empty() ? 0 : process.steady.front();
  const auto away = [&](size_t row) {
    return std::abs(process.steps[row].duration_ns() - process.duration.median);
  };
  for (const uint32_t row : process.steady) {
    if (away(row) < away(best)) best = row;
  }
  return best;
}

// Of every stretch of time the deepest point and the last one stay.
std::vector<QueuePoint> Thin(const std::vector<QueuePoint>& points, size_t most) {
  if (points.size() <= most) return points;
  const size_t length = (2 * points.size() + most - 1) / most;
  std::vector<QueuePoint> kept;
  for (size_t first = 0; first < points.size(); first += length) {
    const size_t last = std::min(points.size(), first + length) - 1;
    size_t deepest = first;
    for (size_t i = first; i <= last; ++i) {
      if (points[i].depth > points[deepest].depth) deepest = i;
    }
    kept.push_back(points[deepest]);
    if (last != deepest) kept.push_back(points[last]);
  }
  return kept;
}

LaunchQueue QueueOf(const ProcessSteps& process, uint32_t device, const Launches& launches,
                    size_t most_points) {
  LaunchQueue queue{.process = process.process, .device = device};
  queue.shown_step = MedianStep(process);
  std::vector<bool> steady(process.steps.size());
  for (const uint32_t row : process.steady) steady[row] = true;
  std::vector<int64_t> latencies;
  double depth_time = 0;
  double empty_ns = 0;
  double total_ns = 0;
  for (size_t row = 0; row < process.steps.size(); ++row) {
    const Step& step = process.steps[row];
    const auto at = [&](int64_t time_ns) {
      return static_cast<size_t>(
          std::lower_bound(launches.begin(), launches.end(), time_ns,
                           [](const Launch& a, int64_t time) { return a.call_ns < time; }) -
          launches.begin());
    };
    const size_t begin = at(step.start_ns);
    const size_t end = at(step.end_ns);
    StepQueue one{.launches = static_cast<uint32_t>(end - begin)};
    std::vector<int64_t> own;
    for (size_t i = begin; i < end; ++i) own.push_back(launches[i].start_ns - launches[i].call_ns);
    if (steady[row]) latencies.insert(latencies.end(), own.begin(), own.end());
    one.median_latency_ns = Quantile(own, 0.5);
    one.p95_latency_ns = Quantile(own, 0.95);
    const std::vector<QueuePoint> points =
        DepthOf(launches, begin, end, step.start_ns, step.end_ns);
    double area = 0;
    double empty = 0;
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      const auto length = double(points[i + 1].time_ns - points[i].time_ns);
      area += length * points[i].depth;
      if (points[i].depth == 0) empty += length;
      one.most = std::max(one.most, points[i].depth);
    }
    const double length = std::max<double>(1, double(step.duration_ns()));
    one.mean_depth = area / length;
    one.empty = empty / length;
    if (row == queue.shown_step) queue.curve = Thin(points, most_points);
    if (steady[row]) {
      depth_time += area;
      empty_ns += empty;
      total_ns += length;
      queue.most = std::max(queue.most, one.most);
    }
    queue.steps.push_back(one);
  }
  queue.latency = Summarize(std::move(latencies));
  queue.mean_depth = total_ns == 0 ? 0 : depth_time / total_ns;
  queue.empty = total_ns == 0 ? 0 : empty_ns / total_ns;
  return queue;
}

}  // namespace

std::vector<LaunchQueue> AnalyzeLaunchQueues(const Store& store, const StepSet& steps,
                                             size_t most_points) {
  std::vector<LaunchQueue> queues;
  if (steps.processes.empty()) return queues;
  const Launched launched(store);
  for (const auto& [key, launches] : launched.found()) {
    const ProcessSteps* process = steps.Of(ProcessId{key.first});
    if (process != nullptr) queues.push_back(QueueOf(*process, key.second, launches, most_points));
  }
  return queues;
}

}  // namespace batchlight
