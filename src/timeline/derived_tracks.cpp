#include "timeline/derived_tracks.h"

#include <algorithm>

namespace batchlight::timeline {

uint32_t AddDerivedTable(Timeline& timeline, std::string_view key, std::string_view title,
                         const DerivedTable& table) {
  return timeline.events().Add({.key = key,
                                .title = title,
                                .start_ns = table.start_ns.data(),
                                .end_ns = table.end_ns.data(),
                                .name = table.name.data(),
                                .rows = static_cast<uint32_t>(table.name.size())});
}

void AddToPalette(Timeline& timeline, TrackKind kind, const PaletteEntry& entry) {
  std::vector<PaletteEntry>& palette = timeline.palette(kind);
  const bool known = std::any_of(palette.begin(), palette.end(), [&](const PaletteEntry& other) {
    return other.name == entry.name;
  });
  if (!known) palette.push_back(entry);
}

std::vector<TrackPlan> DerivedTracks(const StepInputs& inputs, Timeline& timeline) {
  std::vector<TrackPlan> plans;
  AddStepTracks(timeline, plans);
  AddPhaseTracks(inputs, timeline, plans);
  AddIdleTracks(timeline, plans);
  AddMemoryTracks(timeline, plans);
  return plans;
}

}  // namespace batchlight::timeline
