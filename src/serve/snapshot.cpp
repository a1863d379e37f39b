#include "serve/snapshot.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "timeline/tracks/build_timeline.h"
#include "timeline/tracks/continue_steps.h"
#include "timeline/tracks/join_timelines.h"
#include "timeline/tracks/reading_fit.h"

namespace batchlight::serve {
namespace {

using timeline::RangeRequest;
using timeline::RangeTables;

// CUPTI hands over what a GPU did when its buffers are full, or about once a second.
constexpr int64_t kLateNs = 5'000'000'000;
constexpr size_t kStepsAfterSeam = 4;

}  // namespace

Snapshot::Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps,
                   uint32_t generation, bool complete)
    : store_(std::move(store)),
      steps_(steps),
      timeline_(timeline::BuildTimeline(*store_, {.steps = steps, .derived = complete})),
      generation_(generation),
      complete_(complete) {
  range_tables_.emplace(*timeline_, steps);
}

Snapshot::Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps,
                   std::unique_ptr<timeline::Timeline> timeline)
    : store_(std::move(store)),
      steps_(steps),
      timeline_(std::move(timeline)),
      generation_(0),
      complete_(true) {
  range_tables_.emplace(*timeline_, steps, true);
}

Snapshot::Snapshot(std::shared_ptr<const Snapshot> older, std::shared_ptr<const Store> newer,
                   uint32_t generation)
    : store_(older->store_),
      steps_(older->steps_),
      generation_(generation),
      complete_(true),
      older_(std::move(older)),
      at_ns_(older_->FindSeam().at_ns) {
  const StepInputs inputs(*newer);
  timeline::ContinuedSteps steps = timeline::ContinueSteps(
      older_->timeline().steps(), FindSteps(inputs, steps_), at_ns_,
      [&](ProcessId process) { return timeline::SameProcess(*store_, *newer, process); });
  fits_ = steps.fits;
  auto newer_timeline = timeline::BuildTimeline(inputs, std::move(steps.newer));
  newer_.reset(new Snapshot(std::move(newer), steps_, std::move(newer_timeline)));
  fits_ = fits_ && timeline::AreAlike(older_->timeline(), newer_->timeline());
  if (!fits_) return;
  timeline_ =
      timeline::JoinTimelines(older_->timeline(), newer_->timeline(), at_ns_, std::move(steps.all));
}

const timeline::Links& Snapshot::links() const {
  std::call_once(links_once_, [this] {
    if (older_ == nullptr) {
      links_.emplace(*timeline_);
    } else {
      links_.emplace(*timeline_, std::vector{&older_->links(), &newer_->links()});
    }
  });
  return *links_;
}

Snapshot::Seam Snapshot::FindSeam() const {
  const timeline::Events& events = timeline_->events();
  const int64_t latest_ns = events.run_end_ns() - kLateNs;
  const int64_t first_ns = events.run_start_ns();
  const ProcessSteps* process = timeline_->steps().Main();
  if (process != nullptr && process->steps.size() > kStepsAfterSeam) {
    for (size_t row = process->steps.size() - kStepsAfterSeam; row-- > 0;) {
      const Step& step = process->steps[row];
      if (step.end_ns > latest_ns) continue;
      return {step.end_ns, step.start_ns - step.duration_ns()};
    }
  }
  // Too few steps to go on from: all that is new is what came after the reading.
  const int64_t at_ns = std::max(first_ns, latest_ns);
  return {at_ns, at_ns};
}

bool Snapshot::can_go_on() const {
  const ProcessSteps* process = timeline_->steps().Main();
  return complete_ && process != nullptr && timeline::CanGoOn(timeline_->steps(), steps_) &&
         FindSeam().since_ns < FindSeam().at_ns;
}

// Of steps where they begin.
bool Snapshot::IsNewer(const RangeRequest& request) const {
  if (!request.by_steps) return request.from_ns >= at_ns_;
  const std::vector<ProcessSteps>& processes = timeline_->steps().processes;
  if (request.process >= processes.size()) return false;
  const std::vector<Step>& steps = processes[request.process].steps;
  const auto first = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.number >= request.first_step;
  });
  return first != steps.end() && first->start_ns >= at_ns_;
}

// Analyses look at one reading: tables of a part of both are of what lies in the older.
RangeTables Snapshot::MakeTablesOfOne(RangeRequest request) const {
  const std::vector<ProcessSteps>& processes = timeline_->steps().processes;
  bool is_cut = false;
  if (!request.by_steps) {
    is_cut = request.to_ns > at_ns_;
    request.to_ns = std::min(request.to_ns, at_ns_);
  } else if (request.process < processes.size()) {
    for (const Step& step : processes[request.process].steps) {
      if (step.start_ns < at_ns_ || step.number > request.last_step) continue;
      request.last_step = step.number - 1;
      is_cut = true;
      break;
    }
  }
  RangeTables result = older_->MakeTables(request);
  if (is_cut) {
    char note[160];
    std::snprintf(note, sizeof note,
                  "of what lies before %.3f s: what came later is not read together with it yet; "
                  "select it by itself",
                  static_cast<double>(at_ns_) / 1e9);
    result.notes.insert(result.notes.begin(), note);
  }
  return result;
}

RangeTables Snapshot::MakeTables(const RangeRequest& request) const {
  if (older_ == nullptr) return range_tables_->Make(request);
  if (!IsNewer(request)) return MakeTablesOfOne(request);
  RangeRequest of_newer = request;
  if (request.by_steps) {
    // Its place among the newer's.
    const ProcessId wanted = timeline_->steps().processes[request.process].process;
    const std::vector<ProcessSteps>& processes = newer_->timeline().steps().processes;
    const auto at =
        std::find_if(processes.begin(), processes.end(), [&](const ProcessSteps& process) {
          return timeline::SameProcess(*store_, newer_->store(), process.process) == wanted;
        });
    of_newer.process = static_cast<size_t>(at - processes.begin());
  }
  return newer_->MakeTables(of_newer);
}

}  // namespace batchlight::serve
