#include "timeline/answers/gap_search.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/steps/step_lookup.h"

namespace batchlight::timeline {
namespace {

enum Place : uint8_t { kBefore, kWarmUp, kAmong, kAfter, kPlaces };

// Warm-up lasts until the first step that counts.
Place PlaceOf(const ProcessSteps& process, int64_t time_ns) {
  const std::vector<Step>& steps = process.steps;
  if (steps.empty() || time_ns < steps.front().start_ns) return kBefore;
  if (time_ns >= steps.back().end_ns) return kAfter;
  const std::vector<uint32_t>& steady = process.steady;
  return steady.empty() || time_ns < steps[steady.front()].start_ns ? kWarmUp : kAmong;
}

std::string WhereIs(const ProcessSteps& process, int64_t time_ns) {
  const std::vector<Step>& steps = process.steps;
  const Place place = PlaceOf(process, time_ns);
  if (place == kBefore) return "before the first step";
  if (place == kAfter) return "after the last step";
  const size_t row = StepLookup::Around(steps, time_ns);
  if (row == StepLookup::kNone) return "between two steps";
  return "in step " + std::to_string(steps[row].number) + " (" +
         std::string(StepKindName(steps[row].kind)) + ")";
}

// Of the steps of the track's process, else of the first one's; nullptr: no step is known.
const ProcessSteps* StepsBeside(const Timeline& timeline, const Track& track) {
  const ProcessSteps* own =
      track.group < 0
          ? nullptr
          : timeline.steps().Of(timeline.groups()[static_cast<size_t>(track.group)].process);
  return own != nullptr ? own : timeline.steps().Main();
}

// Steps of one rank may be asked for (--rank): then no gap of another rank's GPU begins in one.
bool IsOfRankWithoutSteps(const Timeline& timeline, const Track& track) {
  if (track.group < 0) return false;
  const ProcessId process = timeline.groups()[static_cast<size_t>(track.group)].process;
  const ProcessSteps* main = timeline.steps().Main();
  if (main == nullptr || main->rank < 0 || timeline.steps().Of(process) != nullptr) return false;
  return std::any_of(timeline.groups().begin(), timeline.groups().end(), [&](const Group& group) {
    return group.process == process && group.rank >= 0 && group.rank != main->rank;
  });
}

}  // namespace

LongestGap NthLongestGap(const Timeline& timeline, uint64_t nth) {
  const Events& events = timeline.events();
  LongestGap result;
  std::vector<uint32_t> inside;
  int64_t longest_ns = -1;
  std::array<int64_t, kPlaces> elsewhere_ns{};
  std::array<GapElsewhere, kPlaces> elsewhere;
  for (const ProcessSteps& process : timeline.steps().processes) {
    result.steps += process.steady.size();
  }
  for (const Track& track : timeline.tracks()) {
    if (track.kind != TrackKind::kIdle || track.rows.empty()) continue;
    if (IsOfRankWithoutSteps(timeline, track)) continue;
    const ProcessSteps* process = StepsBeside(timeline, track);
    StepLookup steps(process);
    for (const uint32_t ref : track.rows.front().refs()) {
      const int64_t start_ns = events.Start(ref);
      const int64_t length_ns = events.End(ref) - start_ns;
      if (process == nullptr || steps.IsSteadyAt(start_ns)) {
        inside.push_back(ref);
        longest_ns = std::max(longest_ns, length_ns);
        continue;
      }
      const Place place = PlaceOf(*process, start_ns);
      if (length_ns <= elsewhere_ns[place]) continue;
      elsewhere_ns[place] = length_ns;
      elsewhere[place] = {ref, WhereIs(*process, start_ns)};
    }
  }
  for (size_t place = 0; place < kPlaces; ++place) {
    if (elsewhere[place].ref != kNoRef && elsewhere_ns[place] > longest_ns)
      result.outside.push_back(elsewhere[place]);
  }
  result.found = NthLongestOf(events, std::move(inside), nth);
  return result;
}

}  // namespace batchlight::timeline
