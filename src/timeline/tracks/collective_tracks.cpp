#include "timeline/tracks/collective_tracks.h"

#include <cstdio>
#include <map>
#include <string>

#include "analysis/ranks/same_calls.h"
#include "timeline/index/collective_events.h"
#include "timeline/rows/lanes.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

std::string SizeText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit < 3; ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", unit > 0 && value < 100 ? 1 : 0, value, kUnits[unit]);
  return text;
}

std::string TitleOf(uint32_t number, const NcclCommunicator& communicator) {
  std::string title = "communicator " + std::to_string(number);
  if (!communicator.pytorch_name.empty()) {
    title += " (" + std::string(communicator.pytorch_name) + ")";
  }
  if (const uint32_t ranks = communicator.size(); ranks > 0) {
    title += ", " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
  }
  return title;
}

// Refs [begin, end), which may overlap: a communicator is used on several streams.
std::function<void(Track& track)> FillFree(const Timeline& timeline, uint32_t begin, uint32_t end) {
  return [&timeline, begin, end](Track& track) {
    RowFiller<FreeLanes> rows(track);
    const Events& events = timeline.events();
    for (uint32_t ref = begin; ref < end; ++ref) rows.Add(ref, events.Start(ref), events.End(ref));
    rows.Finish();
  };
}

}  // namespace

std::string CollectiveName(std::string_view operation, uint64_t bytes) {
  std::string name(operation);
  if (bytes > 0) name += ", " + SizeText(bytes);
  return name;
}

void AddCollectiveTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const Store& store = timeline.store();
  const NcclCalls nccl = FindNcclCalls(store);
  const std::vector<CollectiveEvent> events = FindCollectiveEvents(store, nccl);
  if (events.empty()) return;
  DerivedTable& table = timeline.NewDerivedTable();
  for (const CollectiveEvent& event : events) {
    const NcclCall& call = nccl.calls[event.call];
    table.Add(event.start_ns, event.end_ns,
              timeline.names().Add(CollectiveName(call.operation, call.bytes)));
  }
  const uint32_t ref = AddDerivedTable(timeline, kCollectivesKey, "Collective", table);
  if (ref == kNoRef) return;
  const std::map<uint64_t, uint32_t> numbers = NumberCommunicators(nccl);
  for (uint32_t first = 0, end = 0; first < events.size(); first = end) {
    while (end < events.size() && IsSameTrack(nccl, events[first], events[end])) ++end;
    const NcclCall& call = nccl.calls[events[first].call];
    plans.push_back({.process = call.process,
                     .device = events[first].device,
                     .track = {.kind = TrackKind::kCollectives,
                               .title = TitleOf(numbers.at(call.communicator),
                                                nccl.communicators.at(call.communicator))},
                     .fill = FillFree(timeline, ref + first, ref + end)});
  }
}

}  // namespace batchlight::timeline
