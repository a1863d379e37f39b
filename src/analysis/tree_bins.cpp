#include "analysis/tree_bins.h"

#include <algorithm>

namespace batchlight {
namespace {

// Bins of at most `length` steps, all of which count or none does. Empty: more than kMost.
std::vector<TreeBin> Cut(const std::vector<bool>& counts, size_t length) {
  std::vector<TreeBin> bins;
  size_t size = 0;
  for (size_t step = 0; step < counts.size(); ++step) {
    if (bins.empty() || size == length || bins.back().counts != counts[step]) {
      if (bins.size() == TreeBins::kMost) return {};
      bins.push_back({static_cast<uint32_t>(step), 0, counts[step]});
      size = 0;
    }
    ++size;
  }
  return bins;
}

}  // namespace

TreeBins::TreeBins(const Store& store, const StepSet& steps) : store_(store), steps_(steps) {
  size_t most = 0;
  for (const ProcessSteps& process : steps.processes) most = std::max(most, process.steps.size());
  if (most == 0) return;
  const ProcessSteps& main = steps.processes.front();
  std::vector<bool> counts(most, main.steady.empty());
  for (const uint32_t row : main.steady) counts[row] = true;
  for (size_t length = 1; bins_.empty() && length < 2 * most; length *= 2) {
    bins_ = Cut(counts, length);
  }
  // Steps that count and others take turns too often to keep them apart.
  if (bins_.empty()) bins_ = Cut(std::vector<bool>(most, true), (most + kMost - 1) / kMost);
  for (size_t bin = 0; bin < bins_.size(); ++bin) {
    const size_t end = bin + 1 < bins_.size() ? bins_[bin + 1].first_step : most;
    bin_of_step_.resize(end, static_cast<uint32_t>(bin));
  }
  CountSteps();
}

void TreeBins::CountSteps() {
  for (const ProcessSteps& process : steps_.processes) {
    for (size_t step = 0; step < process.steps.size(); ++step) ++bins_[bin_of_step_[step]].steps;
  }
}

void TreeBins::Enter(ThreadId thread) {
  thread_ = thread;
  process_ = thread.IsNone() ? nullptr : steps_.Of(store_.ProcessOf(thread));
  from_ = to_ = 0;
  if (process_ != nullptr) return;
  from_ = INT64_MIN;
  to_ = INT64_MAX;
  bin_ = outside();
}

void TreeBins::Seek(int64_t time_ns) {
  if (process_ == nullptr) return;
  const std::vector<Step>& all = process_->steps;
  const auto after =
      std::upper_bound(all.begin(), all.end(), time_ns,
                       [](int64_t time, const Step& step) { return time < step.start_ns; });
  to_ = after == all.end() ? INT64_MAX : after->start_ns;
  from_ = INT64_MIN;
  bin_ = outside();
  if (after == all.begin()) return;
  const Step& step = *(after - 1);
  if (time_ns >= step.end_ns) {
    from_ = step.end_ns;
    return;
  }
  from_ = step.start_ns;
  to_ = step.end_ns;
  bin_ = bin_of_step_[static_cast<size_t>(after - all.begin() - 1)];
}

}  // namespace batchlight
