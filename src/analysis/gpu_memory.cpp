#include "analysis/gpu_memory.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/gpu_summary.h"

namespace batchlight {
namespace {

constexpr uint8_t kRelease = 1;

class CurveBuilder {
 public:
  void Allocate(int64_t time_ns, uint64_t address, uint64_t bytes) {
    blocks_[address] = bytes;
    ++curve_.allocations;
    Add(time_ns, held_ + bytes);
  }
  // Of a block that is not known the release says how large it was; it was not counted.
  void Release(int64_t time_ns, uint64_t address) {
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) return;
    Add(time_ns, held_ - block->second);
    blocks_.erase(block);
  }
  MemoryCurve& curve() { return curve_; }

 private:
  void Add(int64_t time_ns, uint64_t held) {
    held_ = held;
    curve_.points.push_back({time_ns, held});
    if (held > curve_.peak_bytes) {
      curve_.peak_bytes = held;
      curve_.peak_ns = time_ns;
    }
  }

  MemoryCurve curve_;
  std::map<uint64_t, uint64_t> blocks_;
  uint64_t held_ = 0;
};

std::vector<MemoryPoint> Thin(const std::vector<MemoryPoint>& points, size_t most) {
  if (points.size() <= most) return points;
  const int64_t start = points.front().time_ns;
  const int64_t span = std::max<int64_t>(1, points.back().time_ns - start);
  const auto stretches = static_cast<int64_t>(std::max<size_t>(1, most / 2));
  const auto stretch_of = [&](const MemoryPoint& point) {
    return static_cast<int64_t>(double(point.time_ns - start) / double(span) * double(stretches));
  };
  std::vector<MemoryPoint> kept;
  for (size_t first = 0; first < points.size();) {
    size_t last = first;
    size_t highest = first;
    while (last + 1 < points.size() && stretch_of(points[last + 1]) == stretch_of(points[first])) {
      if (points[++last].bytes > points[highest].bytes) highest = last;
    }
    kept.push_back(points[highest]);
    if (last != highest) kept.push_back(points[last]);
    first = last + 1;
  }
  return kept;
}

}  // namespace

std::vector<MemoryCurve> GpuMemoryCurves(const Store& store, size_t most_points) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  std::map<std::tuple<size_t, uint32_t, uint8_t>, CurveBuilder> builders;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.process[row].IsNone()) continue;
    const auto key =
        std::tuple(size_t{events.process[row].row()}, events.device[row], events.memory_kind[row]);
    CurveBuilder& builder = builders[key];
    MemoryCurve& curve = builder.curve();
    curve.process = events.process[row];
    curve.device = events.device[row];
    if (curve.kind.empty()) curve.kind = MemoryKindName(events.memory_kind[row]);
    if (events.operation[row] == kRelease) {
      builder.Release(events.start_ns[row], events.address[row]);
    } else {
      builder.Allocate(events.start_ns[row], events.address[row], events.bytes[row]);
    }
  }
  std::vector<MemoryCurve> curves;
  for (auto& [key, builder] : builders) {
    if (builder.curve().points.empty()) continue;
    builder.curve().points = Thin(builder.curve().points, most_points);
    curves.push_back(std::move(builder.curve()));
  }
  std::stable_sort(curves.begin(), curves.end(), [](const MemoryCurve& a, const MemoryCurve& b) {
    return a.peak_bytes > b.peak_bytes;
  });
  return curves;
}

}  // namespace batchlight
