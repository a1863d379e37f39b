#include "analysis/breakdown/native_parts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/gpu/gpu_idle.h"
#include "analysis/steps/step_lookup.h"

namespace batchlight {
namespace {

// Gives samples their parts, each the first that is found for it.
class PartMaker {
 public:
  explicit PartMaker(const Store& store) : store_(store) {
    parts_.part.assign(store.cpu_samples.size(), SampleParts::kNone);
  }

  // name(): made only where a sample lies.
  template <typename Name>
  void AddIn(ThreadId thread, int64_t start_ns, int64_t end_ns, Name&& name) {
    Visit(thread, start_ns, end_ns, [&](size_t row) {
      if (parts_.part[row] == SampleParts::kNone) parts_.part[row] = NumberOf(name());
    });
  }
  template <typename Take>
  void Visit(ThreadId thread, int64_t start_ns, int64_t end_ns, Take&& take) const {
    const CpuSamplesTable& samples = store_.cpu_samples;
    const auto [first, last] =
        std::equal_range(samples.thread.begin(), samples.thread.end(), thread);
    const auto moments = samples.start_ns.begin();
    const auto from = moments + (first - samples.thread.begin());
    const auto to = moments + (last - samples.thread.begin());
    for (auto at = std::lower_bound(from, to, start_ns); at != to && *at < end_ns; ++at) {
      take(static_cast<size_t>(at - moments));
    }
  }
  // Leaves out what is_kept(row) says no to.
  template <typename Test>
  void Keep(Test&& is_kept) {
    for (size_t row = 0; row < parts_.part.size(); ++row) {
      uint32_t& part = parts_.part[row];
      if (part != SampleParts::kNone && !is_kept(row)) part = SampleParts::kNone;
    }
  }
  SampleParts Take() { return std::move(parts_); }

 private:
  uint32_t NumberOf(const std::string& name) {
    const auto [place, added] =
        numbers_.try_emplace(name, static_cast<uint32_t>(parts_.names.size()));
    if (added) parts_.names.push_back(name);
    return place->second;
  }

  const Store& store_;
  SampleParts parts_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

SampleParts PhasesOfSamples(const StepInputs& inputs, const StepSet& steps) {
  PartMaker maker(inputs.store);
  if (inputs.store.cpu_samples.size() == 0) return maker.Take();
  for (const ProcessSteps& process : steps.processes) {
    if (process.thread.IsNone()) continue;
    std::vector<bool> steady(process.steps.size());
    for (const uint32_t step : process.steady) steady[step] = true;
    VisitPhaseStretches(inputs, process, [&](const PhaseStretch& stretch) {
      if (!steady[stretch.step]) return;
      const bool is_range = stretch.kind == PhaseKind::kUserRange;
      maker.AddIn(process.thread, stretch.start_ns, stretch.end_ns, [&] {
        return is_range ? NameWithoutNumbers(inputs.store.Text(stretch.range))
                        : std::string(PhaseKindName(stretch.kind));
      });
    });
  }
  return maker.Take();
}

SampleParts IdleCausesOfSamples(const StepInputs& inputs, const StepSet& steps) {
  const Store& store = inputs.store;
  PartMaker maker(store);
  if (store.cpu_samples.size() == 0) return maker.Take();
  const GpuIdleExplainer explainer(inputs);
  VisitIdleGaps(store, [&](int64_t from_ns, int64_t to_ns, ApiCallId call) {
    explainer.Explain(from_ns, to_ns, call, [&](const IdleStretch& idle) {
      if (idle.thread.IsNone()) return;
      maker.AddIn(idle.thread, idle.start_ns, idle.end_ns,
                  [&] { return std::string(IdleCause(idle.part)); });
    });
  });
  std::map<ProcessId, StepLookup> lookups;
  for (const ProcessSteps& process : steps.processes) {
    lookups.emplace(process.process, StepLookup(&process));
  }
  maker.Keep([&](size_t row) {
    const auto found = lookups.find(store.ProcessOf(store.cpu_samples.thread[row]));
    return found != lookups.end() && found->second.IsSteadyAt(store.cpu_samples.start_ns[row]);
  });
  return maker.Take();
}

std::vector<StackInPart> SumStacksByPart(const Store& store, const SampleParts& parts) {
  const CpuSamplesTable& samples = store.cpu_samples;
  std::map<std::tuple<uint32_t, ThreadId, NativeStackId>, SampledStack> sums;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (parts.part[row] == SampleParts::kNone) continue;
    SampledStack& sum = sums[{parts.part[row], samples.thread[row], samples.native_stack[row]}];
    sum.thread = samples.thread[row];
    sum.stack = samples.native_stack[row];
    ++sum.samples;
    sum.cpu_ns += samples.cpu_ns[row];
  }
  std::vector<StackInPart> stacks;
  for (const auto& [key, sum] : sums) stacks.push_back({std::get<0>(key), sum});
  return stacks;
}

std::vector<NativeInPart> SumFunctionsByPart(const Store& store, const SampleParts& parts) {
  std::vector<std::vector<SampledStack>> stacks(parts.names.size());
  for (const StackInPart& of : SumStacksByPart(store, parts)) {
    stacks[of.part].push_back(of.sampled);
  }
  std::vector<NativeInPart> rows;
  for (size_t part = 0; part < stacks.size(); ++part) {
    int64_t all_ns = 0;
    for (const SampledStack& sampled : stacks[part]) all_ns += sampled.cpu_ns;
    for (const FunctionSum& sum : SumStacksByFunction(store, stacks[part])) {
      rows.push_back({parts.names[part], sum, all_ns});
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const NativeInPart& a, const NativeInPart& b) {
    return std::tuple(-a.part_cpu_ns, a.part) < std::tuple(-b.part_cpu_ns, b.part);
  });
  return rows;
}

}  // namespace batchlight
