#include "timeline/tracks/build_timeline.h"

#include <utility>

#include "timeline/tracks/derived_tracks.h"
#include "timeline/tracks/store_events.h"
#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

std::unique_ptr<Timeline> BuildTimeline(const Store& store, const TimelineOptions& options) {
  if (options.derived) {
    const StepInputs inputs(store);
    return BuildTimeline(inputs, FindSteps(inputs, options.steps));
  }
  auto timeline = std::make_unique<Timeline>(store);
  AddStoreEvents(*timeline);
  timeline->events().SetSpan();
  AddStoreTracks(*timeline, {});
  return timeline;
}

std::unique_ptr<Timeline> BuildTimeline(const StepInputs& inputs, StepSet steps) {
  auto timeline = std::make_unique<Timeline>(inputs.store);
  AddStoreEvents(*timeline);
  timeline->SetSteps(std::move(steps));
  std::vector<TrackPlan> plans = DerivedTracks(inputs, *timeline);
  timeline->events().SetSpan();
  AddStoreTracks(*timeline, std::move(plans));
  return timeline;
}

}  // namespace batchlight::timeline
