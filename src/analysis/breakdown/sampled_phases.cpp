#include "analysis/breakdown/sampled_phases.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/numbers/looks_in_a_row.h"

namespace batchlight {
namespace {

using PhaseName = std::pair<PhaseKind, std::string>;
using SampledFunctionKey = std::tuple<StringId, StringId, uint32_t>;

struct FunctionLooks {
  uint64_t count = 0;
  LookTimes times;
  LooksInARow in_a_row;
};

struct PhaseSum {
  int64_t ns = 0;
  uint64_t looks = 0;
  std::map<SampledFunctionKey, FunctionLooks> functions;
};

// Moments of the looks of a row that lie in [start_ns, end_ns): they are the ends of its equal
// parts.
uint64_t LooksWithin(const PythonSamplesTable& samples, size_t row, int64_t start_ns,
                     int64_t end_ns) {
  const int64_t looks = std::max<int64_t>(samples.samples[row], 1);
  const int64_t each_ns = (samples.end_ns[row] - samples.start_ns[row]) / looks;
  const int64_t last_ns = samples.end_ns[row];
  if (each_ns <= 0) return last_ns >= start_ns && last_ns < end_ns ? 1 : 0;
  // last_ns - i * each_ns, i from 0 to looks - 1
  const auto not_before = [&](int64_t ns) {
    return last_ns < ns ? int64_t{0} : std::min(looks, (last_ns - ns) / each_ns + 1);
  };
  return static_cast<uint64_t>(not_before(start_ns) - not_before(end_ns));
}

// The samples of one thread, asked for stretches that only move on.
class SamplesOfThread {
 public:
  SamplesOfThread(const Store& store, ThreadId thread) : store_(store) {
    const auto& threads = store.python_samples.thread;
    const auto [first, last] = std::equal_range(threads.begin(), threads.end(), thread);
    next_ = static_cast<size_t>(first - threads.begin());
    behind_ = static_cast<size_t>(last - threads.begin());
  }

  void AddIn(int64_t start_ns, int64_t end_ns, PhaseSum& sum) {
    const PythonSamplesTable& samples = store_.python_samples;
    while (next_ < behind_ && samples.end_ns[next_] < start_ns) ++next_;
    for (size_t row = next_; row < behind_ && samples.start_ns[row] < end_ns; ++row) {
      const PythonFrameId frame = InnermostOf(samples.python_stack[row]);
      if (frame.IsNone()) continue;
      const PythonFramesTable& frames = store_.python_frames;
      const size_t at = frame.row();
      const uint64_t looks = LooksWithin(samples, row, start_ns, end_ns);
      if (looks == 0) continue;
      sum.looks += looks;
      FunctionLooks& function =
          sum.functions[{frames.file[at], frames.function[at], frames.first_line[at]}];
      function.count += looks;
      const int64_t row_ns = samples.end_ns[row] - samples.start_ns[row];
      function.times +=
          TimesOfLooks(samples, row, row_ns * int64_t(looks) / std::max(1u, samples.samples[row]));
      function.in_a_row.Add(
          {std::max(start_ns, samples.start_ns[row]), std::min(end_ns, samples.end_ns[row])});
    }
  }

 private:
  PythonFrameId InnermostOf(PythonStackId stack) const {
    return stack.IsNone() ? PythonFrameId::None() : store_.python_stacks.frame[stack.row()];
  }

  const Store& store_;
  size_t next_ = 0, behind_ = 0;
};

void AddProcess(const StepInputs& inputs, const ProcessSteps& steps,
                std::map<PhaseName, PhaseSum>& sums) {
  if (steps.thread.IsNone()) return;
  std::vector<bool> steady(steps.steps.size());
  for (const uint32_t step : steps.steady) steady[step] = true;
  SamplesOfThread samples(inputs.store, steps.thread);
  VisitPhaseStretches(inputs, steps, [&](const PhaseStretch& stretch) {
    if (!steady[stretch.step]) return;
    const bool is_range = stretch.kind == PhaseKind::kUserRange;
    PhaseSum& sum =
        sums[{stretch.kind, is_range ? NameWithoutNumbers(inputs.store.Text(stretch.range)) : ""}];
    sum.ns += stretch.end_ns - stretch.start_ns;
    samples.AddIn(stretch.start_ns, stretch.end_ns, sum);
  });
}

}  // namespace

std::vector<SampledInPhase> SumSamplesByPhase(const StepInputs& inputs, const StepSet& steps) {
  std::vector<SampledInPhase> rows;
  if (inputs.store.python_samples.size() == 0) return rows;
  std::map<PhaseName, PhaseSum> sums;
  for (const ProcessSteps& process : steps.processes) AddProcess(inputs, process, sums);
  for (const auto& [phase, sum] : sums) {
    for (const auto& [key, function] : sum.functions) {
      SampledInPhase& row =
          rows.emplace_back(SampledInPhase{.phase = phase.first,
                                           .range = phase.second,
                                           .looks = function.count,
                                           .phase_looks = sum.looks,
                                           .times = function.times,
                                           .phase_ns = sum.ns,
                                           .longest = function.in_a_row.longest()});
      std::tie(row.file, row.function, row.first_line) = key;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const SampledInPhase& a, const SampledInPhase& b) {
    return std::tuple(-a.phase_ns, a.phase, a.range, b.looks) <
           std::tuple(-b.phase_ns, b.phase, b.range, a.looks);
  });
  return rows;
}

}  // namespace batchlight
