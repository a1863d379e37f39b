#include "analysis/advice/sampled_callers.h"

#include <algorithm>
#include <map>

#include "analysis/lines/source_place.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight::advice {
namespace {

constexpr uint32_t kNotLookedAt = kNoRow - 1;

}  // namespace

CallersOf::CallersOf(Test is_callee, const Store& store)
    : is_callee_(is_callee), store_(store), callers_(store.python_stacks.size(), kNotLookedAt) {}

SampledTime CallersOf::In(const ProcessSteps& main) {
  const PythonSamplesTable& samples = store_.python_samples;
  StepLookup lookup(&main);
  std::map<uint32_t, int64_t> by_frame;
  SampledTime time;
  for (size_t row = 0; row < samples.size(); ++row) {
    const int64_t middle_ns = samples.start_ns[row] / 2 + samples.end_ns[row] / 2;
    if (samples.thread[row] != main.thread || samples.python_stack[row].IsNone()) continue;
    if (!lookup.IsSteadyAt(middle_ns)) continue;
    const uint32_t caller = CallerOn(samples.python_stack[row]);
    if (caller == kNoRow) continue;
    const int64_t ns = samples.end_ns[row] - samples.start_ns[row];
    time.all_ns += ns;
    by_frame[caller] += ns;
  }
  for (const auto& [frame, ns] : by_frame) {
    const PythonFramesRow place = store_.python_frames.Row(frame);
    time.functions.push_back({.file = place.file,
                              .function = std::string(store_.Text(place.function)),
                              .line = place.line,
                              .ns = ns});
  }
  std::stable_sort(time.functions.begin(), time.functions.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return time;
}

uint32_t CallersOf::CallerOn(PythonStackId innermost) {
  uint32_t& known = callers_[innermost.row()];
  if (known != kNotLookedAt) return known;
  known = kNoRow;
  bool is_inside = false;
  for (PythonStackId stack = innermost; !stack.IsNone();
       stack = store_.python_stacks.parent[stack.row()]) {
    const PythonFrameId frame = store_.python_stacks.frame[stack.row()];
    if (frame.IsNone()) continue;
    const PythonFramesRow place = store_.python_frames.Row(frame.row());
    is_inside = is_inside || is_callee_(store_, place);
    if (!is_inside || OwnerOfSource(store_, store_.Text(place.file)) != SourceOwner::kUser)
      continue;
    return known = static_cast<uint32_t>(frame.row());
  }
  return known;
}

}  // namespace batchlight::advice
