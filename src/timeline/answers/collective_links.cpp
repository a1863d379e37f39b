#include "timeline/answers/collective_links.h"

#include "analysis/ranks/same_calls.h"
#include "timeline/index/collective_events.h"

namespace batchlight::timeline {

std::vector<EventLink> CollectiveLinks(const Timeline& timeline) {
  std::vector<EventLink> links;
  const EventTable* collectives = timeline.events().TableWithKey(kCollectivesKey);
  const EventTable* kernels = timeline.events().TableWithKey(KernelsTable::kName);
  const EventTable* ranges = timeline.events().TableWithKey(NvtxRangesTable::kName);
  if (collectives == nullptr || kernels == nullptr || ranges == nullptr) return links;
  const NcclCalls nccl = FindNcclCalls(timeline.store());
  const std::vector<CollectiveEvent> events = FindCollectiveEvents(timeline.store(), nccl);
  std::vector<uint32_t> event_of(nccl.calls.size());
  for (uint32_t row = 0; row < events.size(); ++row) {
    const CollectiveEvent& event = events[row];
    const uint32_t ref = collectives->first_ref + row;
    event_of[event.call] = row;
    links.push_back({"owner", ranges->first_ref + nccl.calls[event.call].range, ref});
    for (const uint32_t kernel : event.kernels) {
      links.push_back({"owner", ref, kernels->first_ref + kernel});
    }
  }
  for (const std::vector<uint32_t>& same : FindSameCalls(timeline.store(), nccl)) {
    for (size_t i = 1; i < same.size(); ++i) {
      const uint32_t before = event_of[same[i - 1]];
      const uint32_t after = event_of[same[i]];
      links.push_back(
          {"collective", collectives->first_ref + before, collectives->first_ref + after});
      if (events[before].kernels.empty() || events[after].kernels.empty()) continue;
      links.push_back({"collective", kernels->first_ref + events[before].kernels[0],
                       kernels->first_ref + events[after].kernels[0]});
    }
  }
  return links;
}

}  // namespace batchlight::timeline
