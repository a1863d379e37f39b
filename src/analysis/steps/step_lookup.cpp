#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// LastBegun(), where it is one of the next few steps from `near`, as of calls of several threads
// that take turns; else kNone.
size_t LastBegunNear(const std::vector<Step>& steps, size_t near, int64_t time_ns) {
  constexpr size_t kNear = 4;
  const size_t end = std::min(steps.size(), near + kNear);
  for (size_t row = near < kNear ? 0 : near - kNear; row < end; ++row) {
    if (steps[row].start_ns > time_ns) break;
    if (row + 1 == steps.size() || time_ns < steps[row + 1].start_ns) return row;
  }
  return StepLookup::kNone;
}

}  // namespace

size_t StepLookup::LastBegun(const std::vector<Step>& steps, int64_t time_ns) {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time_ns,
                       [](int64_t time, const Step& step) { return time < step.start_ns; });
  return after == steps.begin() ? kNone : static_cast<size_t>(after - steps.begin()) - 1;
}

size_t StepLookup::LastBegun(const std::vector<Step>& steps, int64_t time_ns, size_t near) {
  const size_t begun = near == kNone ? kNone : LastBegunNear(steps, near, time_ns);
  return begun == kNone ? LastBegun(steps, time_ns) : begun;
}

size_t StepLookup::Around(const std::vector<Step>& steps, int64_t time_ns) {
  const size_t row = LastBegun(steps, time_ns);
  return row == kNone || time_ns >= steps[row].end_ns ? kNone : row;
}

size_t StepLookup::Mostly(const std::vector<Step>& steps, int64_t start_ns, int64_t end_ns) {
  const int64_t half_ns = (end_ns - start_ns) / 2;
  const size_t middle = Around(steps, start_ns + half_ns);
  if (middle != kNone) {
    const Step& step = steps[middle];
    const int64_t within_ns = std::min(end_ns, step.end_ns) - std::max(start_ns, step.start_ns);
    if (within_ns > half_ns) return middle;
  }
  return Around(steps, start_ns);
}

size_t StepLookup::FirstUnfinished(const std::vector<Step>& steps, int64_t time_ns) {
  return static_cast<size_t>(
      std::partition_point(steps.begin(), steps.end(),
                           [&](const Step& step) { return step.end_ns <= time_ns; }) -
      steps.begin());
}

void StepLookup::Seek(int64_t time_ns) {
  const size_t last = row_;
  row_ = kNone;
  steady_ = false;
  from_ns_ = INT64_MIN;
  to_ns_ = INT64_MAX;
  if (process_ == nullptr) return;
  const std::vector<Step>& steps = process_->steps;
  const size_t begun = LastBegun(steps, time_ns, last);
  const size_t next = begun == kNone ? 0 : begun + 1;
  if (next < steps.size()) to_ns_ = steps[next].start_ns;
  if (begun == kNone) return;
  if (time_ns >= steps[begun].end_ns) {
    from_ns_ = steps[begun].end_ns;
    return;
  }
  from_ns_ = steps[begun].start_ns;
  to_ns_ = steps[begun].end_ns;
  row_ = begun;
  const std::vector<uint32_t>& steady = process_->steady;
  steady_ = std::binary_search(steady.begin(), steady.end(), static_cast<uint32_t>(begun));
}

}  // namespace batchlight
