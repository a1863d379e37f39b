#include "analysis/gpu/launch_queue.h"

#include <algorithm>
#include <map>

#include "analysis/numbers/quantile.h"
#include "analysis/steps/bin_finder.h"
#include "analysis/steps/step_bins.h"
#include "store/interval_index.h"

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
  std::vector<QueuePoint> points = {{from, double(depth)}};
  size_t call = begin;
  size_t start = 0;
  const auto add = [&](int64_t time_ns) {
    if (points.back().time_ns == time_ns)
      points.back().depth = depth;
    else
      points.push_back({time_ns, double(depth)});
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

// The row of the steady step whose length is nearest to the median.
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

// All points; where they are too many, means over equal parts of the time. Leaving out points
// would let short peaks look long, or long ones short.
QueueCurve MakeCurve(size_t step, std::vector<QueuePoint> points, size_t most) {
  if (points.size() <= most) return {.step = step, .points = std::move(points)};
  QueueCurve curve{.step = step, .means = true};
  const int64_t from = points.front().time_ns;
  const int64_t to = points.back().time_ns;
  size_t at = 0;
  for (size_t part = 0; part < most; ++part) {
    const auto edge = [&](size_t i) {
      return from + int64_t(double(to - from) * double(i) / double(most));
    };
    const int64_t end = edge(part + 1);
    double area = 0;
    int64_t now = edge(part);
    curve.points.push_back({now, 0});
    while (now < end) {
      while (points[at + 1].time_ns <= now) ++at;
      const int64_t until = std::min(end, points[at + 1].time_ns);
      area += double(until - now) * points[at].depth;
      now = until;
    }
    const auto length = double(std::max<int64_t>(1, end - curve.points.back().time_ns));
    curve.points.back().depth = area / length;
  }
  curve.points.push_back({to, 0});
  return curve;
}

// Of each bin the step of median length, and `shown`. Ascending.
std::vector<size_t> StepsWithCurves(const ProcessSteps& process, const std::vector<BinSteps>& bins,
                                    size_t shown) {
  std::vector<size_t> picked = {shown};
  for (const BinSteps& bin : bins) {
    if (bin.rows.empty()) continue;
    std::vector<uint32_t> rows = bin.rows;
    const auto middle = rows.begin() + static_cast<ptrdiff_t>(rows.size() / 2);
    std::nth_element(rows.begin(), middle, rows.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(process.steps[a].duration_ns(), a) <
             std::pair(process.steps[b].duration_ns(), b);
    });
    picked.push_back(*middle);
  }
  std::sort(picked.begin(), picked.end());
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

class QueueAnalysis {
 public:
  QueueAnalysis(const ProcessSteps& process, uint32_t device, const Launches& launches,
                const std::vector<uint32_t>& bins, size_t most_points)
      : process_(process),
        launches_(launches),
        most_points_(most_points),
        steady_(process.steps.size()),
        bin_of_row_(process.steps.size(), kNoRow) {
    queue_.process = process.process;
    queue_.device = device;
    shown_ = MedianStep(process);
    for (const uint32_t row : process.steady) steady_[row] = true;
    const std::vector<BinSteps> steps_of_bins = StepsOfBins(bins, process);
    with_curves_ = StepsWithCurves(process, steps_of_bins, shown_);
    queue_.latency_of_bin.resize(bins.size());
    for (uint32_t bin = 0; bin < bins.size(); ++bin) {
      for (const uint32_t row : steps_of_bins[bin].rows) bin_of_row_[row] = bin;
    }
  }

  LaunchQueue Make() {
    for (size_t row = 0; row < process_.steps.size(); ++row) AddStep(row);
    queue_.latency = Summarize(std::move(latencies_));
    queue_.mean_depth = total_ns_ == 0 ? 0 : depth_time_ / total_ns_;
    queue_.empty = total_ns_ == 0 ? 0 : empty_ns_ / total_ns_;
    return std::move(queue_);
  }

 private:
  size_t FirstFrom(int64_t time_ns) const {
    return static_cast<size_t>(
        std::lower_bound(launches_.begin(), launches_.end(), time_ns,
                         [](const Launch& a, int64_t time) { return a.call_ns < time; }) -
        launches_.begin());
  }

  void AddStep(size_t row) {
    const Step& step = process_.steps[row];
    const size_t begin = FirstFrom(step.start_ns);
    const size_t end = FirstFrom(step.end_ns);
    StepQueue one{.launches = static_cast<uint32_t>(end - begin)};
    AddLatencies(row, begin, end, one);
    const std::vector<QueuePoint> points =
        DepthOf(launches_, begin, end, step.start_ns, step.end_ns);
    double area = 0;
    double empty = 0;
    for (size_t i = 0; i + 1 < points.size(); ++i) {
      const auto length = double(points[i + 1].time_ns - points[i].time_ns);
      area += length * points[i].depth;
      if (points[i].depth <= 0) empty += length;
      one.most = std::max(one.most, static_cast<uint32_t>(points[i].depth));
    }
    const double length = std::max<double>(1, double(step.duration_ns()));
    one.mean_depth = area / length;
    one.empty = empty / length;
    KeepCurve(row, points);
    if (steady_[row]) {
      depth_time_ += area;
      empty_ns_ += empty;
      total_ns_ += length;
      queue_.most = std::max(queue_.most, one.most);
    }
    queue_.steps.push_back(one);
  }

  void AddLatencies(size_t row, size_t begin, size_t end, StepQueue& one) {
    std::vector<int64_t> own;
    own.reserve(end - begin);
    for (size_t i = begin; i < end; ++i) {
      own.push_back(launches_[i].start_ns - launches_[i].call_ns);
    }
    if (steady_[row]) latencies_.insert(latencies_.end(), own.begin(), own.end());
    if (const uint32_t bin = bin_of_row_[row]; bin != kNoRow) {
      for (const int64_t ns : own) queue_.latency_of_bin[bin].Add(ns);
    }
    if (own.empty()) return;
    one.median_latency_ns = LowerQuantile(own, 0.5);  // latencies that a launch had
    one.p95_latency_ns = LowerQuantile(own, 0.95);
  }

  void KeepCurve(size_t row, const std::vector<QueuePoint>& points) {
    constexpr size_t kFewest = 60;
    if (row == shown_) queue_.curve = MakeCurve(row, points, most_points_);
    if (queue_.curves.size() == with_curves_.size()) return;
    if (row != with_curves_[queue_.curves.size()]) return;
    // As much as eight whole curves together.
    const size_t most =
        std::max(kFewest, std::min(most_points_, 8 * most_points_ / with_curves_.size()));
    queue_.curves.push_back(MakeCurve(row, points, most));
  }

  const ProcessSteps& process_;
  const Launches& launches_;
  const size_t most_points_;
  LaunchQueue queue_;
  size_t shown_ = 0;
  std::vector<size_t> with_curves_;
  std::vector<bool> steady_;
  std::vector<uint32_t> bin_of_row_;  // kNoRow: its latencies are in no bin's sum
  std::vector<int64_t> latencies_;    // of steady steps
  double depth_time_ = 0;
  double empty_ns_ = 0;
  double total_ns_ = 0;
};

}  // namespace

std::vector<LaunchQueue> AnalyzeLaunchQueues(const Store& store, const StepSet& steps,
                                             size_t most_points) {
  std::vector<LaunchQueue> queues;
  if (steps.processes.empty()) return queues;
  const Launched launched(store);
  const std::vector<uint32_t> bins = BinStarts(BinFinder(store, steps).bins());
  for (const auto& [key, launches] : launched.found()) {
    const ProcessSteps* process = steps.Of(ProcessId{key.first});
    if (process == nullptr) continue;
    queues.push_back(QueueAnalysis(*process, key.second, launches, bins, most_points).Make());
  }
  return queues;
}

}  // namespace batchlight
