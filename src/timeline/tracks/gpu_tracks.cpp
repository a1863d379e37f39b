#include <algorithm>
#include <array>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/memory/gpu_memory.h"
#include "timeline/rows/lanes.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

constexpr std::string_view kIdleCauses = "gpu_idle_causes";

// Idle gaps of one GPU, each named by its main cause, and their stretches where there are several.
class GapFinder {
 public:
  GapFinder(Timeline& timeline, const GpuIdleExplainer& explainer, DerivedTable& gaps,
            DerivedTable& stretches)
      : timeline_(timeline), explainer_(explainer), gaps_(gaps), stretches_(stretches) {}

  void Find(const DeviceWork& device, const GpuLaunches& launches) {
    const std::vector<TimeSpan> busy = BusyOf(device);
    if (busy.empty()) return;
    VisitGaps(busy, busy.front().start_ns, busy.back().end_ns, [&](int64_t from_ns, int64_t to_ns) {
      const auto next = launches.FirstFrom(to_ns);
      AddGap(from_ns, to_ns, next ? next->call : ApiCallId::None());
    });
  }

 private:
  void AddGap(int64_t from_ns, int64_t to_ns, ApiCallId call) {
    std::array<int64_t, kGpuPartCount> part_ns{};
    const size_t first = stretches_.name.size();
    const ThreadId launcher =
        call.IsNone() ? ThreadId::None() : timeline_.store().api_calls.thread[call.row()];
    explainer_.Explain(from_ns, to_ns, call, [&](const IdleStretch& idle) {
      part_ns[static_cast<size_t>(idle.part)] += idle.end_ns - idle.start_ns;
      stretches_.Add(idle.start_ns, idle.end_ns, NameOf(idle.part));
      stretches_.waited_for.push_back(launcher);
    });
    if (stretches_.name.size() == first + 1) {
      stretches_.start_ns.pop_back();
      stretches_.end_ns.pop_back();
      stretches_.name.pop_back();
      stretches_.waited_for.pop_back();
    }
    const auto most = std::max_element(part_ns.begin(), part_ns.end());
    gaps_.Add(from_ns, to_ns, NameOf(static_cast<GpuPart>(most - part_ns.begin())));
    gaps_.waited_for.push_back(launcher);
    gaps_.in_parts.push_back(stretches_.name.size() > first ? 1 : 0);
  }

  StringId NameOf(GpuPart part) {
    StringId& name = names_[static_cast<size_t>(part)];
    if (name.IsNone()) {
      name = timeline_.names().Add(GpuPartName(part));
      AddToPalette(
          timeline_, TrackKind::kIdle,
          {.name = name, .key = GpuPartKey(part), .label = GpuPartName(part), .idle = true});
    }
    return name;
  }

  Timeline& timeline_;
  const GpuIdleExplainer& explainer_;
  DerivedTable& gaps_;
  DerivedTable& stretches_;
  std::array<StringId, kGpuPartCount> names_;
};

CounterRow CurveOf(const MemoryCurve& curve) {
  CounterRow row;
  for (const MemoryPoint& point : curve.points) {
    row.Add(point.time_ns, static_cast<double>(point.bytes));
  }
  return row;
}

}  // namespace

void AddIdleTracks(const GpuActivity& gpus, Timeline& timeline, std::vector<TrackPlan>& plans) {
  const std::vector<DeviceWork>& devices = gpus.devices;
  if (devices.empty()) return;
  DerivedTable& gaps = timeline.NewDerivedTable();
  DerivedTable& stretches = timeline.NewDerivedTable();
  gaps.parts = kIdleCauses;
  GapFinder finder(timeline, *gpus.idle, gaps, stretches);
  for (size_t i = 0; i < devices.size(); ++i) {
    gaps.begins.push_back(static_cast<uint32_t>(gaps.name.size()));
    stretches.begins.push_back(static_cast<uint32_t>(stretches.name.size()));
    finder.Find(devices[i], gpus.launches[i]);
  }
  gaps.begins.push_back(static_cast<uint32_t>(gaps.name.size()));
  stretches.begins.push_back(static_cast<uint32_t>(stretches.name.size()));
  const uint32_t gap_ref = AddDerivedTable(timeline, "gpu_idle", "Idle gap of a GPU", gaps);
  const uint32_t stretch_ref =
      AddDerivedTable(timeline, kIdleCauses, "Cause of an idle gap", stretches);
  if (gap_ref == kNoRef || stretch_ref == kNoRef) return;
  for (size_t i = 0; i < devices.size(); ++i) {
    plans.push_back({.process = devices[i].process,
                     .device = int64_t{devices[i].device},
                     .track = {.kind = TrackKind::kIdle, .title = "Idle, by cause"},
                     .fill = [&timeline, &gaps, &stretches, gap_ref, stretch_ref, i](Track& track) {
                       track.rows.resize(2);
                       for (uint32_t row = gaps.begins[i]; row < gaps.begins[i + 1]; ++row) {
                         track.rows[0].Add(timeline.events(), gap_ref + row);
                       }
                       for (uint32_t row = stretches.begins[i]; row < stretches.begins[i + 1];
                            ++row) {
                         track.rows[1].Add(timeline.events(), stretch_ref + row);
                       }
                       for (EventRow& row : track.rows) row.Summarize();
                     }});
  }
}

void AddMemoryTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  for (const MemoryCurve& curve : GpuMemoryCurves(timeline.store(), timeline.steps(), SIZE_MAX)) {
    plans.push_back({.process = curve.process,
                     .device = int64_t{curve.device},
                     .track = {.kind = TrackKind::kMemory,
                               .title = "Memory, " + LabelInSentence(curve.kind),
                               .series_titles = {"held"},
                               .unit = "bytes"},
                     .fill = [row = CurveOf(curve)](Track& track) mutable {
                       row.Summarize();
                       track.series.push_back(std::move(row));
                     }});
  }
}

}  // namespace batchlight::timeline
