#include "timeline/tracks/build_timeline.h"

#include "analysis/steps/step_inputs.h"
#include "timeline/tracks/derived_tracks.h"
#include "timeline/tracks/store_events.h"
#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

std::unique_ptr<Timeline> BuildTimeline(const Store& store, const TimelineOptions& options) {
  auto timeline = std::make_unique<Timeline>(store);
  AddStoreEvents(*timeline);
  std::vector<TrackPlan> plans;
  if (options.derived) {
    const StepInputs inputs(store);
    timeline->SetSteps(FindSteps(inputs, options.steps));
    plans = DerivedTracks(inputs, *timeline);
  }
  timeline->events().SetSpan();
  AddStoreTracks(*timeline, std::move(plans));
  return timeline;
}

}  // namespace batchlight::timeline
