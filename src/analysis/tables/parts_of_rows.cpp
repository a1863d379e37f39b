#include "analysis/tables/parts_of_rows.h"

#include <algorithm>

namespace batchlight {
namespace {

// Appends a key whose numbers are `value(item)`.
template <typename Items, typename Value>
void Add(PartsByKey& parts, std::string_view key, const Items& items, const Value& value) {
  std::vector<double>& numbers = parts.emplace_back(key, std::vector<double>()).second;
  numbers.reserve(items.size());
  for (const auto& item : items) numbers.push_back(double(value(item)));
}

const GpuBreakdown* BreakdownOf(const RunOverview& overview, const RankRow& rank) {
  if (!rank.has_gpu) return nullptr;
  for (const GpuBreakdown& gpu : overview.gpu.breakdowns) {
    if (gpu.process == rank.process && gpu.device == rank.device) return &gpu;
  }
  return nullptr;
}

// Sums over the steps of one bin.
struct RankSums {
  int64_t step_ns = 0;
  int64_t waited_ns = 0;
  int64_t windows = 0;       // steps with a window on the GPU
  int64_t group_ns[4] = {};  // by GpuPartGroup
  int64_t hidden_ns = 0;

  void Add(const GpuStepParts& step) {
    if (step.duration_ns() == 0) return;
    ++windows;
    hidden_ns += step.hidden_communication_ns;
    for (size_t i = 0; i < kGpuPartCount; ++i) {
      group_ns[static_cast<size_t>(GroupOf(static_cast<GpuPart>(i)))] += step.part_ns[i];
    }
  }
};

std::vector<RankSums> SumsOf(const RunOverview& overview, const RankRow& rank,
                             const std::vector<BinSteps>& bins) {
  const ProcessSteps& process = *overview.steps.Of(rank.process);
  const GpuBreakdown* gpu = BreakdownOf(overview, rank);
  std::vector<RankSums> sums;
  for (const BinSteps& bin : bins) {
    RankSums& sum = sums.emplace_back();
    for (const uint32_t row : bin.rows) {
      sum.step_ns += process.steps[row].duration_ns();
      sum.waited_ns += rank.waited_in_step[row];
      if (gpu != nullptr) sum.Add(gpu->steps[row]);
    }
  }
  return sums;
}

}  // namespace

PartsByKey PartsOf(const RunOverview& overview, const RankRow& rank,
                   const std::vector<BinSteps>& bins) {
  const std::vector<RankSums> sums = SumsOf(overview, rank, bins);
  PartsByKey parts;
  Add(parts, "steps", bins, [](const BinSteps& bin) { return bin.rows.size(); });
  Add(parts, "step_ns", sums, [](const RankSums& sum) { return sum.step_ns; });
  if (rank.knows_waits) {
    Add(parts, "waited_ns", sums, [](const RankSums& sum) { return sum.waited_ns; });
  }
  Add(parts, "windows", sums, [](const RankSums& sum) { return sum.windows; });
  Add(parts, "hidden_ns", sums, [](const RankSums& sum) { return sum.hidden_ns; });
  const auto group = [&](std::string_view key, GpuPartGroup part) {
    Add(parts, key, sums,
        [part](const RankSums& sum) { return sum.group_ns[static_cast<size_t>(part)]; });
  };
  group("compute_ns", GpuPartGroup::kComputing);
  group("communication_ns", GpuPartGroup::kCommunication);
  group("copies_ns", GpuPartGroup::kCopies);
  group("idle_ns", GpuPartGroup::kIdle);
  return parts;
}

PartsByKey PartsOf(const CollectiveRow& row, std::span<const CollectiveTimes> times) {
  PartsByKey parts;
  parts.push_back({"size_bytes", {row.size_bytes()}});
  parts.push_back({"bus_bytes", {row.size_bytes() * row.bus_factor()}});
  const auto add = [&](std::string_view key, auto CollectiveTimes::*member) {
    Add(parts, key, times, [member](const CollectiveTimes& part) { return part.*member; });
  };
  add("calls", &CollectiveTimes::calls);
  add("timed", &CollectiveTimes::timed);
  add("matched", &CollectiveTimes::matched);
  if (row.times.timed > 0) {
    add("kernel_ns", &CollectiveTimes::kernel_ns);
    add("shortest_ns", &CollectiveTimes::shortest_ns);
  }
  if (row.knows_waits) add("waited_ns", &CollectiveTimes::waited_ns);
  return parts;
}

PartsByKey PartsOf(const std::vector<GpuUse>& uses) {
  PartsByKey parts;
  const auto add = [&](std::string_view key, auto GpuUse::*member) {
    Add(parts, key, uses, [member](const GpuUse& use) { return use.*member; });
  };
  add("time_ns", &GpuUse::time_ns);
  add("busy_ns", &GpuUse::busy_ns);
  add("kernel_ns", &GpuUse::kernel_ns);
  add("tensor_ns", &GpuUse::tensor_ns);
  add("sm_ns", &GpuUse::sm_ns);
  add("occupancy_ns", &GpuUse::occupancy_ns);
  return parts;
}

PartsByKey PartsOf(const ProcessSteps& process, const LaunchQueue& queue,
                   const std::vector<BinSteps>& bins) {
  struct Sums {
    int64_t time_ns = 0;
    double depth_ns = 0;
    double empty_ns = 0;
    uint32_t most = 0;
  };
  std::vector<Sums> sums;
  for (const BinSteps& bin : bins) {
    Sums& sum = sums.emplace_back();
    for (const uint32_t row : bin.rows) {
      const StepQueue& step = queue.steps[row];
      const int64_t length_ns = process.steps[row].duration_ns();
      sum.time_ns += length_ns;
      sum.depth_ns += step.mean_depth * double(length_ns);
      sum.empty_ns += step.empty * double(length_ns);
      sum.most = std::max(sum.most, step.most);
    }
  }
  PartsByKey parts;
  Add(parts, "time_ns", sums, [](const Sums& sum) { return sum.time_ns; });
  Add(parts, "depth_ns", sums, [](const Sums& sum) { return sum.depth_ns; });
  Add(parts, "empty_ns", sums, [](const Sums& sum) { return sum.empty_ns; });
  Add(parts, "most", sums, [](const Sums& sum) { return sum.most; });
  return parts;
}

}  // namespace batchlight
