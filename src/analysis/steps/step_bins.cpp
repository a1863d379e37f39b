#include "analysis/steps/step_bins.h"

#include <algorithm>

namespace batchlight {

std::vector<uint32_t> BinStarts(const std::vector<StepBin>& bins) {
  std::vector<uint32_t> starts;
  for (const StepBin& bin : bins) {
    if (starts.empty() || bin.first_step > starts.back()) starts.push_back(bin.first_step);
  }
  return starts;
}

std::vector<BinSteps> StepsOfBins(const std::vector<uint32_t>& starts,
                                  const ProcessSteps& process) {
  const auto count = static_cast<uint32_t>(process.steps.size());
  std::vector<bool> steady(count);
  for (const uint32_t row : process.steady) steady[row] = true;
  std::vector<BinSteps> result(starts.size());
  for (size_t bin = 0; bin < starts.size(); ++bin) {
    const uint32_t end = bin + 1 < starts.size() ? std::min(starts[bin + 1], count) : count;
    std::vector<uint32_t> all;
    for (uint32_t row = starts[bin]; row < end; ++row) {
      all.push_back(row);
      if (steady[row]) result[bin].rows.push_back(row);
    }
    result[bin].steady = !result[bin].rows.empty();
    if (!result[bin].steady) result[bin].rows = std::move(all);
  }
  return result;
}

}  // namespace batchlight
