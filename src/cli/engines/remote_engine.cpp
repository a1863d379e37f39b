#include "cli/engines/remote_engine.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/thread_pool.h"
#include "cli/engines/census.h"
#include "cli/engines/dispatch.h"
#include "cli/engines/seen_inputs.h"
#include "cli/engines/work_lines.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {
namespace {

constexpr auto kAskAgain = std::chrono::milliseconds(500);

class Remote : public Engine {
 public:
  Remote(std::unique_ptr<Workers> workers, double most_lag_seconds)
      : workers_(std::move(workers)), most_lag_seconds_(most_lag_seconds) {}

  Result<std::vector<EngineInput>> Find(const std::vector<std::string>& runs) override {
    ASSIGN_OR_RETURN(places_, workers_->Open());
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(most_lag_seconds_);
    while (true) {
      Status refused;  // by a machine: it has none of the files
      ASSIGN_OR_RETURN(const Views views, LookEverywhere(runs, refused));
      const bool late = std::chrono::steady_clock::now() >= limit;
      if (late || (!views.empty() && !ViewsDiffer(views))) {
        std::vector<EngineInput> inputs = InputsOf(views);
        if (!inputs.empty()) return inputs;
        return refused.ok() ? InputError("no machine sees " + runs[0]) : refused;
      }
      std::this_thread::sleep_for(kAskAgain);
    }
  }

  Status Run(const std::vector<EngineInput>& inputs, const Work& work,
             const TakeWork& take) override {
    std::vector<size_t> here;
    std::vector<size_t> elsewhere;
    for (size_t i = 0; i < inputs.size(); ++i) {
      (inputs[i].places.empty() ? here : elsewhere).push_back(i);
    }
    if (!here.empty()) {
      SayLine("batchlight: " + std::to_string(here.size()) + " of " +
              std::to_string(inputs.size()) + " recordings lie on this machine alone (" +
              inputs[here[0]].seen.path + "): they are read here");
    }
    RETURN_IF_ERROR(Dispatch(*workers_, places_, inputs, elsewhere, work, take));
    ParallelFor(here.size(), [&](size_t i) { take(here[i], work.run(inputs[here[i]].seen.path)); });
    return {};
  }

 private:
  // Errors: no place could tell.
  Result<Views> LookEverywhere(const std::vector<std::string>& runs, Status& refused) {
    Views views;
    auto here = SeeInputs(runs);
    if (!here.ok()) refused = here.status();
    if (here.ok() && !here.value().empty()) views[""] = std::move(here).value();
    std::vector<std::string> words = {"work", "list", "--"};
    words.insert(words.end(), runs.begin(), runs.end());
    for (size_t i = 0; i < places_.size(); ++i) {
      RETURN_IF_ERROR(workers_->Begin(i, places_[i].name, words));
    }
    Status failure;
    std::vector<WorkPlace> told;
    for (size_t left = places_.size(); left > 0;) {
      ASSIGN_OR_RETURN(const Workers::Event event, workers_->Next());
      if (event.call >= places_.size()) continue;
      const WorkPlace& place = places_[event.call];
      if (!event.ended) {
        if (auto seen = ReadSeenLine(event.line)) views[place.name].push_back(std::move(*seen));
        continue;
      }
      --left;
      if (event.failure.empty()) {
        told.push_back(place);
        continue;
      }
      views.erase(place.name);
      SayLine("batchlight: " + place.name + " is left out: " + event.failure);
      if (failure.ok()) failure = UsageError(place.name + ": " + event.failure);
    }
    if (told.empty()) {
      return UsageError(
          "none of the machines could run batchlight (BATCHLIGHT_WORKER names the "
          "program there): " +
          failure.message());
    }
    places_ = std::move(told);
    return views;
  }

  std::unique_ptr<Workers> workers_;
  const double most_lag_seconds_;
  std::vector<WorkPlace> places_;
};

}  // namespace

std::unique_ptr<Engine> RemoteEngine(std::unique_ptr<Workers> workers, double most_lag_seconds) {
  return std::make_unique<Remote>(std::move(workers), most_lag_seconds);
}

}  // namespace batchlight::cli
