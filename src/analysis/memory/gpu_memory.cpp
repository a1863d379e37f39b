#include "analysis/memory/gpu_memory.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/steps/bin_finder.h"
#include "analysis/steps/step_bins.h"

namespace batchlight {
namespace {

class CurveBuilder {
 public:
  void Allocate(size_t row, int64_t time_ns, uint64_t address, uint64_t bytes,
                MemoryCategory category) {
    // An address that is given again was released unseen.
    if (const auto old = blocks_.find(address); old != blocks_.end()) Forget(old->second);
    blocks_[address] = {bytes, category, row};
    ++curve_.allocations;
    of_category_[static_cast<size_t>(category)] += bytes;
    Add(time_ns, held_ + bytes);
  }
  // Of a block that is not known the release says how large it was; it was not counted.
  void Release(int64_t time_ns, uint64_t address) {
    const auto block = blocks_.find(address);
    if (block == blocks_.end()) return;
    Forget(block->second);
    blocks_.erase(block);
    Add(time_ns, held_);
  }
  MemoryCurve& curve() { return curve_; }

  // Rows of the allocations that are held.
  std::vector<size_t> Held() const {
    std::vector<size_t> rows;
    for (const auto& [address, block] : blocks_) rows.push_back(block.row);
    return rows;
  }

 private:
  struct Block {
    uint64_t bytes = 0;
    MemoryCategory category = MemoryCategory::kOther;
    size_t row = 0;
  };

  void Forget(const Block& block) {
    held_ -= block.bytes;
    of_category_[static_cast<size_t>(block.category)] -= block.bytes;
  }

  void Add(int64_t time_ns, uint64_t held) {
    held_ = held;
    curve_.points.push_back({time_ns, held, of_category_, curve_.allocations});
    if (held > curve_.peak_bytes) {
      curve_.peak_bytes = held;
      curve_.peak_ns = time_ns;
    }
  }

  MemoryCurve curve_;
  std::unordered_map<uint64_t, Block> blocks_;
  std::array<uint64_t, kMemoryCategoryCount> of_category_{};
  uint64_t held_ = 0;
};

// The last point before `time_ns`; -1: none.
ptrdiff_t PointBefore(const std::vector<MemoryPoint>& points, int64_t time_ns) {
  const auto at =
      std::lower_bound(points.begin(), points.end(), time_ns,
                       [](const MemoryPoint& point, int64_t time) { return point.time_ns < time; });
  return at - points.begin() - 1;
}

// Fills in the bins, and says which points have to stay for them.
std::vector<bool> FindBins(const std::vector<uint32_t>& bins, const std::vector<Step>& steps,
                           MemoryCurve& curve) {
  const std::vector<MemoryPoint>& points = curve.points;
  std::vector<bool> needed(points.size());
  curve.bins.resize(bins.size());
  for (size_t bin = 0; bin < bins.size() && bins[bin] < steps.size(); ++bin) {
    const size_t end = bin + 1 < bins.size() ? bins[bin + 1] : steps.size();
    MemoryBin& found = curve.bins[bin];
    found.from_ns = steps[bins[bin]].start_ns;
    found.to_ns = steps[std::min(end, steps.size()) - 1].end_ns;
    const ptrdiff_t before = PointBefore(points, found.from_ns);
    const ptrdiff_t last = PointBefore(points, found.to_ns);
    const auto allocations = [&](ptrdiff_t at) {
      return at < 0 ? 0 : points[static_cast<size_t>(at)].allocations;
    };
    found.allocations_before = allocations(before);
    found.allocations_until = allocations(last);
    if (before >= 0) needed[static_cast<size_t>(before)] = true;
    if (last <= before) continue;
    const auto highest = std::max_element(
        points.begin() + before + 1, points.begin() + last + 1,
        [](const MemoryPoint& a, const MemoryPoint& b) { return a.bytes < b.bytes; });
    needed[static_cast<size_t>(highest - points.begin())] = true;
  }
  return needed;
}

// `needed`: points that have to stay; empty: none.
std::vector<MemoryPoint> Thin(const std::vector<MemoryPoint>& points, size_t most,
                              const std::vector<bool>& needed) {
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
    for (size_t i = first; i <= last; ++i) {
      if (i == highest || i == last || (!needed.empty() && needed[i])) kept.push_back(points[i]);
    }
    first = last + 1;
  }
  return kept;
}

using CurveKey = std::tuple<size_t, uint32_t, MemoryKind>;

CurveKey KeyOf(const GpuMemoryEventsTable& events, size_t row) {
  return {size_t{events.process[row].row()}, events.device[row], events.memory_kind[row]};
}

void Apply(const GpuMemoryEventsTable& events, size_t row, MemoryCategory category,
           CurveBuilder& builder) {
  if (events.operation[row] == MemoryOperation::kRelease) {
    builder.Release(events.start_ns[row], events.address[row]);
  } else {
    builder.Allocate(row, events.start_ns[row], events.address[row], events.bytes[row], category);
  }
}

// The blocks that are held at the peak, by where they were allocated.
std::vector<PeakHolder> HeldAtPeak(const GpuMemoryEventsTable& events,
                                   const MemoryCategories& categories, const CurveKey& key,
                                   const MemoryCurve& curve) {
  CurveBuilder builder;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.process[row].IsNone() || KeyOf(events, row) != key) continue;
    Apply(events, row, MemoryCategory::kOther, builder);
    if (builder.curve().peak_bytes == curve.peak_bytes) break;
  }
  std::map<std::pair<MemoryCategory, std::string>, PeakHolder> holders;
  for (const size_t row : builder.Held()) {
    const MemoryCategory category = categories.Of(row);
    const std::string place = categories.PlaceOf(row);
    PeakHolder& holder = holders[{category, place}];
    holder.category = category;
    holder.place = place;
    ++holder.blocks;
    holder.bytes += events.bytes[row];
  }
  std::vector<PeakHolder> found;
  for (auto& [where, holder] : holders) found.push_back(std::move(holder));
  std::stable_sort(found.begin(), found.end(),
                   [](const PeakHolder& a, const PeakHolder& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace

std::vector<MemoryCurve> GpuMemoryCurves(const Store& store, const StepSet& steps,
                                         size_t most_points) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  std::vector<MemoryCurve> curves;
  if (events.size() == 0) return curves;
  const MemoryCategories categories(store, steps);
  const std::vector<uint32_t> bins = BinStarts(BinFinder(store, steps).bins());
  std::map<CurveKey, CurveBuilder> builders;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.process[row].IsNone()) continue;
    CurveBuilder& builder = builders[KeyOf(events, row)];
    MemoryCurve& curve = builder.curve();
    curve.process = events.process[row];
    curve.device = events.device[row];
    curve.kind = events.memory_kind[row];
    const bool release = events.operation[row] == MemoryOperation::kRelease;
    Apply(events, row, release ? MemoryCategory::kOther : categories.Of(row), builder);
  }
  for (auto& [key, builder] : builders) {
    if (builder.curve().points.empty()) continue;
    builder.curve().at_peak = HeldAtPeak(events, categories, key, builder.curve());
    MemoryCurve& curve = builder.curve();
    std::vector<bool> needed;
    if (const ProcessSteps* process = steps.Of(curve.process)) {
      needed = FindBins(bins, process->steps, curve);
    }
    const size_t all = curve.points.size();
    curve.points = Thin(curve.points, most_points, needed);
    curve.thinned = curve.points.size() < all;
    curves.push_back(std::move(curve));
  }
  std::stable_sort(curves.begin(), curves.end(), [](const MemoryCurve& a, const MemoryCurve& b) {
    return a.peak_bytes > b.peak_bytes;
  });
  return curves;
}

}  // namespace batchlight
