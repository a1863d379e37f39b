// What processes and the machine use over time, one strip each.
#include <string>

#include "analysis/cpu/usage.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

std::string_view UnitOf(UsageUnit unit) {
  if (unit == UsageUnit::kProcessors) return "";
  return unit == UsageUnit::kBytes ? "bytes" : "bytes/s";
}

std::string TitleOf(const UsageSeries& series) {
  const std::string title = series.process.IsNone() ? "machine: " + series.title : series.title;
  return series.unit == UsageUnit::kBytesPerSecond ? title + " per second" : title;
}

// A job with workers by the hundred has as many processes: of the first, the strips are shown.
constexpr size_t kOpenProcesses = 2;

}  // namespace

void AddUsageTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const Store& store = timeline.store();
  if (store.processes.size() == 0) return;
  for (UsageSeries& series : FindUsageSeries(store)) {
    CounterRow row;
    for (const auto& [at_ns, value] : series.values) row.Add(at_ns, value);
    // The machine's stand with the program's first process.
    const ProcessId process = series.process.IsNone() ? ProcessId::At(0) : series.process;
    const bool is_open =
        series.unit != UsageUnit::kBytesPerSecond && process.row() < kOpenProcesses;
    plans.push_back({.process = process,
                     .track = {.kind = TrackKind::kMemory,
                               .title = TitleOf(series),
                               .open = is_open,
                               .series_titles = {series.title},
                               .unit = UnitOf(series.unit)},
                     .fill = [row = std::move(row)](Track& track) mutable {
                       row.Summarize();
                       track.series.push_back(std::move(row));
                     }});
  }
}

}  // namespace batchlight::timeline
