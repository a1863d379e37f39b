#include "timeline/answers/links.h"

#include <algorithm>

#include "timeline/answers/collective_links.h"

namespace batchlight::timeline {

Links::Links(const Timeline& timeline) : timeline_(timeline) {
  AddLaunches(kinds_.emplace_back(Pairs{.kind = "launch", .by_from = {}, .by_to = {}}));
  AddBackwards(kinds_.emplace_back(Pairs{.kind = "backward", .by_from = {}, .by_to = {}}));
  for (const std::string_view kind : {"owner", "collective"}) {
    kinds_.emplace_back(Pairs{.kind = kind, .by_from = {}, .by_to = {}});
  }
  for (const EventLink& link : CollectiveLinks(timeline)) {
    const auto pairs = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const Pairs& known) { return known.kind == link.kind; });
    pairs->by_from.push_back({link.from, link.to});
  }
  for (Pairs& pairs : kinds_) Sort(pairs);
}

void Links::AddLaunches(Pairs& pairs) const {
  const Store& store = timeline_.store();
  const EventTable* calls = timeline_.events().TableWithKey(ApiCallsTable::kName);
  const auto add = [&](const auto& table) {
    const EventTable* events =
        timeline_.events().TableWithKey(std::remove_cvref_t<decltype(table)>::kName);
    if (events == nullptr || calls == nullptr) return;
    for (uint32_t row = 0; row < events->rows; ++row) {
      const ApiCallId call = table.api_call[row];
      if (call.IsNone()) continue;
      pairs.by_from.push_back({calls->first_ref + call.value, events->first_ref + row});
    }
  };
  add(store.kernels);
  add(store.memcpys);
  add(store.memsets);
  add(store.graph_launches);
  add(store.synchronizations);
}

void Links::AddBackwards(Pairs& pairs) const {
  const EventTable* operators = timeline_.events().TableWithKey(OperatorCallsTable::kName);
  if (operators == nullptr) return;
  const BackwardLinks links(timeline_.store());
  for (const BackwardLink& link : links.links()) {
    if (link.forward.IsNone() || link.backward.IsNone()) continue;
    pairs.by_from.push_back(
        {operators->first_ref + link.forward.value, operators->first_ref + link.backward.value});
  }
}

void Links::Sort(Pairs& pairs) {
  pairs.by_to = pairs.by_from;
  std::stable_sort(pairs.by_from.begin(), pairs.by_from.end(),
                   [](const Pair& a, const Pair& b) { return a.from < b.from; });
  std::stable_sort(pairs.by_to.begin(), pairs.by_to.end(),
                   [](const Pair& a, const Pair& b) { return a.to < b.to; });
}

std::vector<EventLink> Links::OfParts(uint32_t ref, size_t most) const {
  const EventOrigin origin = timeline_.OriginOf(ref);
  std::vector<EventLink> found;
  for (const Links* part : parts_) {
    if (&part->timeline_ != origin.timeline) continue;
    for (EventLink link : part->Of(origin.ref, most)) {
      link.from = timeline_.RefOf({origin.timeline, link.from});
      link.to = timeline_.RefOf({origin.timeline, link.to});
      if (link.from != kNoRef && link.to != kNoRef) found.push_back(link);
    }
  }
  return found;
}

std::vector<EventLink> Links::Of(uint32_t ref, size_t most) const {
  if (!parts_.empty()) return OfParts(ref, most);
  std::vector<EventLink> found;
  for (const Pairs& pairs : kinds_) {
    for (auto at = std::partition_point(pairs.by_from.begin(), pairs.by_from.end(),
                                        [&](const Pair& pair) { return pair.from < ref; });
         at != pairs.by_from.end() && at->from == ref && found.size() < most; ++at) {
      found.push_back({pairs.kind, at->from, at->to});
    }
    for (auto at = std::partition_point(pairs.by_to.begin(), pairs.by_to.end(),
                                        [&](const Pair& pair) { return pair.to < ref; });
         at != pairs.by_to.end() && at->to == ref && found.size() < most; ++at) {
      found.push_back({pairs.kind, at->from, at->to});
    }
  }
  return found;
}

}  // namespace batchlight::timeline
