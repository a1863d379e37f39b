#include "analysis/run/measured_overhead.h"

#include <algorithm>
#include <charconv>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

std::vector<int64_t> Numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + end, number);
    numbers.push_back(number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return numbers;
}

// Rounds with both sides; the lists are as long as the rounds that were run.
OverheadOf Compare(const std::vector<int64_t>& plain, const std::vector<int64_t>& profiled) {
  std::vector<int64_t> without;
  std::vector<int64_t> with;
  OverheadOf result;
  for (size_t i = 0; i < std::min(plain.size(), profiled.size()); ++i) {
    if (plain[i] <= 0 || profiled[i] <= 0) continue;
    without.push_back(plain[i]);
    with.push_back(profiled[i]);
    const double overhead = double(profiled[i]) / double(plain[i]) - 1;
    result.low = result.rounds == 0 ? overhead : std::min(result.low, overhead);
    result.high = result.rounds == 0 ? overhead : std::max(result.high, overhead);
    ++result.rounds;
  }
  if (result.rounds == 0) return result;
  result.plain_ns = Quantile(without, 0.5);
  result.profiled_ns = Quantile(with, 0.5);
  return result;
}

}  // namespace

int64_t MedianStepNs(const StepSet& steps) {
  const ProcessSteps* main = steps.Main();
  return main == nullptr ? 0 : main->duration.median;
}

std::string StepMarkerOf(const StepSet& steps) {
  const ProcessSteps* main = steps.Main();
  const bool marked = main != nullptr && main->source != StepSource::kKernelPeriod &&
                      main->source != StepSource::kOperatorPeriod;
  return marked ? std::string(StepSourceName(main->source)) + " " + main->marker : "";
}

MeasuredOverhead ReadMeasuredOverhead(const Store& store, const StepSet& steps) {
  MeasuredOverhead result;
  const std::vector<int64_t> plain = Numbers(store.Property(kPlainWallKey));
  result.problem = std::string(store.Property(kOverheadProblemKey));
  result.asked = !plain.empty() || !result.problem.empty();
  if (!result.asked) return result;
  std::vector<int64_t> profiled = Numbers(store.Property(kProfiledWallKey));
  for (const int64_t wall_ns : Numbers(store.Property(kWallKey))) profiled.push_back(wall_ns);
  result.wall = Compare(plain, profiled);
  const std::string marker(store.Property(kStepMarkerKey));
  if (marker.empty() || marker != StepMarkerOf(steps)) {
    if (result.problem.empty()) {
      result.problem = "steps are not compared: without the profiler nothing tells where they end";
    }
    return result;
  }
  profiled = Numbers(store.Property(kProfiledStepKey));
  profiled.push_back(MedianStepNs(steps));
  result.step = Compare(Numbers(store.Property(kPlainStepKey)), profiled);
  return result;
}

}  // namespace batchlight
