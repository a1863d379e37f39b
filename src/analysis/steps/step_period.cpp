#include "analysis/steps/step_period.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/numbers/quantile.h"

namespace batchlight {
namespace {

struct Item {
  StringId name;
  int64_t start_ns;
  int64_t end_ns;
};

using Sequence = std::vector<Item>;

constexpr size_t kCandidates = 32;
constexpr size_t kProbes = 4096;
constexpr double kLeastAgreement = 0.7;

double Agreement(const Sequence& sequence, size_t period) {
  const size_t count = sequence.size() - period;
  const size_t stride = std::max<size_t>(1, count / kProbes);
  size_t same = 0;
  size_t probed = 0;
  for (size_t i = 0; i < count; i += stride, ++probed) {
    same += sequence[i].name == sequence[i + period].name;
  }
  return double(same) / double(probed);
}

size_t MedianGap(const std::vector<size_t>& places) {
  std::vector<size_t> gaps;
  for (size_t i = 1; i < places.size(); ++i) gaps.push_back(places[i] - places[i - 1]);
  return UpperQuantile(gaps, 0.5);
}

// Names that occur at least three times, rarest first.
std::vector<StringId> RareNames(const Sequence& sequence) {
  std::unordered_map<StringId, size_t> counts;
  for (const Item& item : sequence) ++counts[item.name];
  std::vector<std::pair<size_t, StringId>> order;
  for (const auto& [name, count] : counts) {
    if (count >= 3) order.emplace_back(count, name);
  }
  std::sort(order.begin(), order.end());
  if (order.size() > kCandidates) order.resize(kCandidates);
  std::vector<StringId> names;
  for (const auto& [count, name] : order) names.push_back(name);
  return names;
}

std::vector<size_t> PlacesOf(const Sequence& sequence, StringId name) {
  std::vector<size_t> places;
  for (size_t i = 0; i < sequence.size(); ++i) {
    if (sequence[i].name == name) places.push_back(i);
  }
  return places;
}

// How many places behind the anchor the period is best cut: before the longest pause.
size_t BestCut(const Sequence& sequence, const std::vector<size_t>& anchors, size_t period) {
  size_t best = 0;
  int64_t longest = -1;
  std::vector<int64_t> pauses;
  for (size_t offset = 0; offset < period; ++offset) {
    pauses.clear();
    for (size_t i = 0; i < anchors.size() && pauses.size() < 64; ++i) {
      const size_t place = anchors[i] + offset;
      if (place == 0 || place >= sequence.size()) continue;
      pauses.push_back(sequence[place].start_ns - sequence[place - 1].end_ns);
    }
    if (pauses.empty()) continue;
    const int64_t pause = UpperQuantile(pauses, 0.5);
    if (pause > longest) {
      longest = pause;
      best = offset;
    }
  }
  return best;
}

FoundStepsOrNone StepsFromPeriod(const StepInputs& inputs, const Sequence& sequence) {
  if (sequence.size() < 9) return {};
  size_t period = 0;
  double agreement = kLeastAgreement;
  std::vector<size_t> anchors;
  for (const StringId name : RareNames(sequence)) {
    std::vector<size_t> places = PlacesOf(sequence, name);
    const size_t distance = MedianGap(places);
    if (distance < 3 || distance * 2 > sequence.size()) continue;
    const double here = Agreement(sequence, distance);
    const bool better = here > agreement + 0.005;
    const bool shorter = here >= agreement - 0.005 && distance < period;
    if (!better && !shorter) continue;
    agreement = std::max(agreement, here);
    period = distance;
    anchors = std::move(places);
  }
  if (period == 0) return {};
  const size_t cut = BestCut(sequence, anchors, period);
  FoundSteps found;
  for (size_t i = 0; i + 1 < anchors.size(); ++i) {
    const size_t from = anchors[i] + cut;
    const size_t to = anchors[i + 1] + cut;
    if (to >= sequence.size()) break;
    if (sequence[to].start_ns <= sequence[from].start_ns) continue;
    found.steps.push_back({.start_ns = sequence[from].start_ns,
                           .end_ns = sequence[to].start_ns,
                           .number = static_cast<int64_t>(found.steps.size())});
  }
  if (found.steps.size() < 2) return {};
  found.marker = std::string(inputs.store.Text(sequence[anchors[0] + cut].name));
  return found;
}

std::string HowOf(const std::string& what) {
  return "from the period of the " + what +
         " sequence (no step range, optimizer step, DataLoader or model was seen)";
}

ThreadId ThreadWithMostOperators(const StepInputs& inputs, ProcessId process) {
  ThreadId best;
  uint32_t most = 0;
  for (const ThreadId thread : inputs.threads_of_process[process.row()]) {
    if (inputs.operator_rows.Of(thread).size() <= most) continue;
    most = inputs.operator_rows.Of(thread).size();
    best = thread;
  }
  return best;
}

}  // namespace

FoundStepsOrNone StepsFromOperatorPeriod(const StepInputs& inputs, ProcessId process) {
  const ThreadId thread = ThreadWithMostOperators(inputs, process);
  if (thread.IsNone()) return {};
  const OperatorCallsTable& calls = inputs.store.operator_calls;
  const ThreadSpans::Rows rows = inputs.operator_rows.Of(thread);
  Sequence sequence;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (calls.depth[row] != 0 || calls.end_ns[row] == kOpenEnd) continue;
    sequence.push_back({calls.name[row], calls.start_ns[row], calls.end_ns[row]});
  }
  FoundStepsOrNone found = StepsFromPeriod(inputs, sequence);
  if (found) {
    found->source = StepSource::kOperatorPeriod;
    found->how = HowOf("operator");
    found->thread = thread;
  }
  return found;
}

FoundStepsOrNone StepsFromKernelPeriod(const StepInputs& inputs, ProcessId process,
                                       const std::vector<uint32_t>& kernels) {
  const KernelsTable& table = inputs.store.kernels;
  Sequence sequence;
  sequence.reserve(kernels.size());
  for (const uint32_t row : kernels) {
    sequence.push_back({table.demangled_name[row], table.start_ns[row], table.end_ns[row]});
  }
  FoundStepsOrNone found = StepsFromPeriod(inputs, sequence);
  if (found) {
    found->source = StepSource::kKernelPeriod;
    found->how = HowOf("kernel");
    found->thread = ThreadWithMostOperators(inputs, process);
  }
  return found;
}

}  // namespace batchlight
