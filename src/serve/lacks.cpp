#include "serve/lacks.h"

#include <algorithm>
#include <cstdio>

#include "timeline/answers/near_names.h"

namespace batchlight::serve {
namespace {

std::string SecondsText(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f s", static_cast<double>(ns) / 1e9);
  return text;
}

}  // namespace

std::string LackOfStep(const Run& run, const std::string& number) {
  const auto snapshot = run.snapshot();
  const ProcessSteps* process = snapshot->timeline().steps().Main();
  if (process == nullptr) return "has no step " + number + ": it has no steps";
  const std::vector<Step>& steps = process->steps;
  const auto is_wanted = [&](const Step& step) { return std::to_string(step.number) == number; };
  if (std::any_of(steps.begin(), steps.end(), is_wanted)) return {};
  return "has no step " + number + ": its steps go from " + std::to_string(steps.front().number) +
         " to " + std::to_string(steps.back().number);
}

std::string LackOfMoment(const Run& run, int64_t at_ns, const std::string& text) {
  const auto snapshot = run.snapshot();
  const timeline::Events& events = snapshot->timeline().events();
  if (at_ns >= events.run_start_ns() && at_ns <= events.run_end_ns()) return {};
  return "has nothing at " + text + ": its events lie between " +
         SecondsText(events.run_start_ns()) + " and " + SecondsText(events.run_end_ns());
}

std::string LackOfName(const Run& run, const std::string& text) {
  const auto snapshot = run.snapshot();
  if (HasName(snapshot->timeline(), text)) return {};
  return "has no event with \"" + text + "\" in its name" +
         NearNamesText(snapshot->timeline(), text);
}

}  // namespace batchlight::serve
