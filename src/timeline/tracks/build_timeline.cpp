#include "timeline/tracks/build_timeline.h"

#include <utility>

#include "analysis/steps/step_window.h"
#include "timeline/tracks/derived_tracks.h"
#include "timeline/tracks/store_events.h"
#include "timeline/tracks/store_tracks.h"

namespace batchlight::timeline {

namespace {

// Of more events what tables of a part need of the GPU's side is some gigabytes, and found when the
// first is asked for.
constexpr size_t kMostKept = 30'000'000;

std::unique_ptr<Timeline> Build(const StepInputs& inputs, StepSet steps, RunBasis basis) {
  auto timeline = std::make_unique<Timeline>(inputs.store);
  AddStoreEvents(*timeline);
  timeline->SetSteps(std::move(steps));
  std::shared_ptr<const GpuActivity> gpus;
  std::vector<TrackPlan> plans = DerivedTracks(inputs, *timeline, gpus);
  timeline->events().SetSpan();
  size_t events = 0;
  for (const EventTable& table : timeline->events().tables()) events += table.rows;
  if (basis.inputs != nullptr && events <= kMostKept) basis.gpus = std::move(gpus);
  timeline->SetBasis(std::move(basis));
  AddStoreTracks(*timeline, std::move(plans));
  return timeline;
}

}  // namespace

std::unique_ptr<Timeline> BuildTimeline(const Store& store, const TimelineOptions& options) {
  if (options.derived) {
    RunBasis basis{.inputs = std::make_shared<const StepInputs>(store)};
    const StepInputs& inputs = *basis.inputs;
    basis.loops = std::make_shared<const StepSet>(FindLoops(inputs, options.steps));
    StepSet steps = ChooseSteps(inputs, options.steps, *basis.loops);
    return Build(inputs, std::move(steps), std::move(basis));
  }
  auto timeline = std::make_unique<Timeline>(store);
  AddStoreEvents(*timeline);
  timeline->events().SetSpan();
  AddStoreTracks(*timeline, {});
  return timeline;
}

std::unique_ptr<Timeline> BuildTimeline(const StepInputs& inputs, StepSet steps) {
  return Build(inputs, std::move(steps), {});
}

}  // namespace batchlight::timeline
