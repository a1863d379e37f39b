#include "report/page/page_events.h"

#include <algorithm>
#include <numeric>

#include "report/page/page_tree.h"

namespace batchlight {
namespace {

using nlohmann::json;

constexpr size_t kMostApart = 4;  // groups that matter only in steps that are not steady

int64_t SumOfBins(const EventGroup& group) {
  return std::accumulate(group.bin_ns.begin(), group.bin_ns.end(), int64_t{0});
}

// Splits groups into those shown and those put together. `groups` are ordered by falling total.
struct Choice {
  std::vector<const EventGroup*> shown;
  std::vector<const EventGroup*> rest;
};
Choice Choose(const std::vector<EventGroup>& groups, size_t most) {
  const size_t apart = std::min(kMostApart, most / 2);
  Choice choice;
  for (const EventGroup& group : groups) {
    const bool large = choice.shown.size() < most && group.kind != EventKind::kSmaller;
    (large ? choice.shown : choice.rest).push_back(&group);
  }
  std::stable_sort(choice.rest.begin(), choice.rest.end(),
                   [](const EventGroup* a, const EventGroup* b) {
                     return SumOfBins(*a) - a->total_ns > SumOfBins(*b) - b->total_ns;
                   });
  while (!choice.rest.empty() && choice.shown.size() < most + apart &&
         choice.rest.front()->kind != EventKind::kSmaller) {
    choice.shown.push_back(choice.rest.front());
    choice.rest.erase(choice.rest.begin());
  }
  return choice;
}

EventGroup PutTogether(const std::vector<const EventGroup*>& rest) {
  EventGroup all{.kind = EventKind::kSmaller, .name = "(smaller ones)"};
  all.bin_ns.resize(rest.front()->bin_ns.size());
  all.bin_count.resize(rest.front()->bin_count.size());
  for (const EventGroup* group : rest) {
    all.total_ns += group->total_ns;
    all.count += group->count;
    for (size_t bin = 0; bin < all.bin_ns.size(); ++bin) {
      all.bin_ns[bin] += group->bin_ns[bin];
      all.bin_count[bin] += group->bin_count[bin];
    }
    if (group->longest.ns <= all.longest.ns) continue;
    all.longest = group->longest;
    all.longest.after.clear();
    all.longest.before.clear();
  }
  return all;
}

class ListWriter {
 public:
  ListWriter(const TrackEvents& track, const ProcessSteps& process, PageStrings& strings)
      : track_(track), process_(process), strings_(strings) {
    for (const char* list :
         {"kind", "name", "op", "after", "before", "total_ns", "count", "longest_ns",
          "longest_start_ns", "longest_step", "bin_ns", "bin_count"}) {
      out_[list] = json::array();
    }
  }

  void Add(const EventGroup& group) {
    out_["kind"].push_back(int(group.kind));
    out_["name"].push_back(strings_.Add(group.name));
    out_["op"].push_back(TextOrNull(group.op));
    out_["after"].push_back(TextOrNull(group.longest.after));
    out_["before"].push_back(TextOrNull(group.longest.before));
    out_["total_ns"].push_back(group.total_ns);
    out_["count"].push_back(group.count);
    out_["longest_ns"].push_back(group.longest.ns);
    out_["longest_start_ns"].push_back(group.longest.start_ns);
    const bool known = group.longest.step != kNoRow;
    out_["longest_step"].push_back(known ? process_.steps[group.longest.step].number : -1);
    out_["bin_ns"].push_back(group.bin_ns);
    out_["bin_count"].push_back(Counts(group.bin_count));
  }
  json Take(size_t left_out) {
    out_["left_out"] = left_out;
    return std::move(out_);
  }

 private:
  json TextOrNull(const std::string& text) {
    return text.empty() ? json(nullptr) : json(strings_.Add(text));
  }
  // One number where every step has the same events, as most do.
  json Counts(const std::vector<uint32_t>& counts) const {
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      const uint32_t steps = track_.bins[bin].steps;
      if (steps == 0 || counts[bin] % steps != 0) return counts;
      if (counts[bin] / steps != counts[0] / track_.bins[0].steps) return counts;
    }
    return counts.empty() ? json(counts) : json(counts[0] / track_.bins[0].steps);
  }

  const TrackEvents& track_;
  const ProcessSteps& process_;
  PageStrings& strings_;
  json out_;
};

json ListOf(const TrackEvents& track, const ProcessSteps& process, size_t phase, size_t most,
            PageStrings& strings) {
  ListWriter list(track, process, strings);
  const Choice choice = Choose(track.phases[phase], most);
  for (const EventGroup* group : choice.shown) list.Add(*group);
  if (!choice.rest.empty()) list.Add(PutTogether(choice.rest));
  return list.Take(choice.rest.size());
}

}  // namespace

json PageTrackEvents(const TrackEvents& track, const ProcessSteps& process,
                     const std::vector<size_t>& phases, size_t most, PageStrings& strings) {
  json lists = json::array();
  for (const size_t phase : phases) {
    lists.push_back(ListOf(track, process, phase, most, strings));
  }
  return {{"bins", PageBins(track.bins)}, {"lists", std::move(lists)}};
}

json PageEventKinds() {
  json names = json::array();
  for (int kind = 0; kind <= int(EventKind::kSmaller); ++kind) {
    names.push_back(
        {{"key", EventKindKey(EventKind(kind))}, {"name", EventKindName(EventKind(kind))}});
  }
  return names;
}

}  // namespace batchlight
