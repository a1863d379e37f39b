#include "analysis/diff/run_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/counters/metrics.h"
#include "analysis/counters/step_counters.h"

namespace batchlight {
namespace {

// Smaller changes are called the same: of the item, and of the step.
constexpr double kSameOfItem = 0.01;

uint64_t StepCount(const RunOverview& run) {
  uint64_t count = 0;
  for (const ProcessSteps& process : run.steps.processes) count += process.steady.size();
  return count;
}

std::vector<int64_t> StepDurations(const RunOverview& run) {
  std::vector<int64_t> durations;
  for (const ProcessSteps& process : run.steps.processes) {
    for (const uint32_t i : process.steady) durations.push_back(process.steps[i].duration_ns());
  }
  return durations;
}

DiffSide SideOf(const RunOverview& run) {
  DiffSide side{.source = run.session.source, .command = run.session.command};
  side.steps = StepCount(run);
  for (const int64_t ns : StepDurations(run)) side.mean_ns += double(ns) / double(side.steps);
  if (const ProcessSteps* main = run.steps.Main()) {
    side.median_ns = main->duration.median;
    if (HasPercentiles(main->duration)) side.p95_ns = main->duration.p95;
  }
  return side;
}

struct Amount {
  double ns = 0;
  double calls = 0;
};
using Amounts = std::map<std::string, Amount>;

Amounts PhasesOf(const RunOverview& run) {
  Amounts amounts;
  const double steps = double(StepCount(run));
  for (const StepBreakdown& breakdown : run.breakdowns) {
    for (const PhaseShare& phase : breakdown.phases) {
      amounts[phase.name].ns += double(phase.steady.total) / steps;
    }
  }
  return amounts;
}

Amounts OperatorsOf(const RunOverview& run) {
  Amounts amounts;
  for (const OperatorRow& row : run.operators.by_name) {
    amounts[std::string(run.store->Text(row.name))] = {row.self_per_step_ns, row.calls_per_step};
  }
  return amounts;
}

// Path in the tree, since two models may use a path; forward without the modules inside.
Amounts ModulesOf(const RunOverview& run) {
  Amounts amounts;
  for (const ModuleRow& row : run.modules.rows) {
    Amount& amount = amounts[row.path];
    amount.ns += row.self_per_step_ns + row.recompute_self_per_step_ns;
    amount.calls += row.calls_per_step;
  }
  return amounts;
}

Amounts KernelsOf(const RunOverview& run) {
  Amounts amounts;
  for (const KernelRow& row : run.gpu.kernels) {
    Amount& amount = amounts[std::string(run.store->Text(row.name))];
    amount.ns += row.per_step_ns;
    amount.calls += row.calls_per_step;
  }
  return amounts;
}

Amounts GpuPartsOf(const RunOverview& run) {
  Amounts amounts;
  const GpuBreakdown* gpu = run.gpu.MainBreakdown();
  if (gpu == nullptr) return amounts;
  for (size_t i = 0; i < kGpuPartCount; ++i) {
    if (gpu->steady[i].total == 0) continue;
    amounts[std::string(GpuPartName(static_cast<GpuPart>(i)))].ns = gpu->steady[i].mean;
  }
  return amounts;
}

double Sum(const Amounts& amounts) {
  double sum = 0;
  for (const auto& [name, amount] : amounts) sum += amount.ns;
  return sum;
}

// Of the whole run, for runs that cannot be cut into steps.
Amounts OperatorTotals(const RunOverview& run) {
  Amounts amounts;
  for (const OperatorRow& row : run.operators.by_name) {
    amounts[std::string(run.store->Text(row.name))] = {double(row.self_ns), double(row.calls)};
  }
  return amounts;
}

Amounts KernelTotals(const RunOverview& run) {
  Amounts amounts;
  for (const KernelRow& row : run.gpu.kernels) {
    Amount& amount = amounts[std::string(run.store->Text(row.name))];
    amount.ns += double(row.total_ns);
    amount.calls += double(row.calls);
  }
  return amounts;
}

struct ListShape {
  std::string key;
  std::string title;
  std::string whole;
  std::string rest;  // name of the row for what the others leave
};

ChangeList Compare(const ListShape& shape, const Amounts& a, const Amounts& b, double whole_a,
                   double whole_b) {
  ChangeList list{.key = shape.key,
                  .title = shape.title,
                  .whole = shape.whole,
                  .a_ns = whole_a,
                  .b_ns = whole_b};
  std::map<std::string, Change> changes;
  for (const auto& [name, amount] : a) {
    Change& change = changes[name];
    change.a_ns = amount.ns;
    change.a_calls = amount.calls;
  }
  for (const auto& [name, amount] : b) {
    Change& change = changes[name];
    change.b_ns = amount.ns;
    change.b_calls = amount.calls;
  }
  for (auto& [name, change] : changes) {
    if (change.a_ns == 0 && change.b_ns == 0) continue;
    change.name = name;
    list.changes.push_back(change);
  }
  std::stable_sort(list.changes.begin(), list.changes.end(), [](const Change& x, const Change& y) {
    const auto rank = [](const Change& change) {
      return std::pair(std::abs(change.delta_ns()), change.a_ns + change.b_ns);
    };
    return rank(x) > rank(y);
  });
  const double rest_a = whole_a - Sum(a);
  const double rest_b = whole_b - Sum(b);
  if (std::abs(rest_a) + std::abs(rest_b) > 0.5 && !list.changes.empty()) {
    list.changes.push_back({.name = shape.rest, .a_ns = rest_a, .b_ns = rest_b, .is_rest = true});
  }
  return list;
}

void AddList(RunDiff& diff, ChangeList list) {
  if (!list.changes.empty()) diff.lists.push_back(std::move(list));
}

void AddTotals(RunDiff& diff, const RunOverview& a, const RunOverview& b) {
  const Amounts operators_a = OperatorTotals(a);
  const Amounts operators_b = OperatorTotals(b);
  AddList(diff, Compare({"operators", "Operators, own time in the whole run", "all operators", ""},
                        operators_a, operators_b, Sum(operators_a), Sum(operators_b)));
  const Amounts kernels_a = KernelTotals(a);
  const Amounts kernels_b = KernelTotals(b);
  AddList(diff, Compare({"kernels", "Kernels in the whole run", "kernel time", ""}, kernels_a,
                        kernels_b, Sum(kernels_a), Sum(kernels_b)));
}

void AddCounters(RunDiff& diff, const RunOverview& a, const RunOverview& b) {
  const std::vector<StepCounter> of_a = SumStepCounters(*a.store);
  const std::vector<StepCounter> of_b = SumStepCounters(*b.store);
  std::set<std::string_view> seen;  // the first pass of the first GPU has a metric's first value
  for (const StepCounter& counter : of_a) {
    const std::string_view metric = a.store->Text(counter.metric);
    const auto same = std::find_if(of_b.begin(), of_b.end(), [&](const StepCounter& other) {
      return b.store->Text(other.metric) == metric;
    });
    if (same == of_b.end() || !seen.insert(metric).second) continue;
    const CounterMetric* const known = FindCounterMetric(metric);
    diff.counters.push_back({.name = std::string(known != nullptr ? known->title : metric),
                             .metric = std::string(metric),
                             .unit = std::string(known != nullptr ? known->unit : ""),
                             .a = counter.mean,
                             .b = same->mean});
  }
}

using Facts = std::vector<std::pair<std::string, std::string>>;

// What is not known of one run (an nsys export has no version of PyTorch) is no difference.
void AddDifferences(RunDiff& diff, const Facts& a, const Facts& b) {
  for (const auto& [label, text] : a) {
    for (const auto& [other_label, other] : b) {
      if (label != other_label || text.empty() || other.empty() || text == other) continue;
      diff.differences.push_back({label, text, other});
    }
  }
}

void AddRunDifferences(RunDiff& diff, const RunOverview& a, const RunOverview& b) {
  AddDifferences(diff, {{"Command", a.session.command}}, {{"Command", b.session.command}});
  AddDifferences(diff, a.session.software, b.session.software);
  AddDifferences(diff, a.session.machine, b.session.machine);
  const auto ranks = [](const RunOverview& run) {
    return std::to_string(run.steps.processes.size());
  };
  AddDifferences(diff, {{"Training processes", ranks(a)}}, {{"Training processes", ranks(b)}});
  const ProcessSteps* steps_a = a.steps.Main();
  const ProcessSteps* steps_b = b.steps.Main();
  if (steps_a != nullptr && steps_b != nullptr && steps_a->marker != steps_b->marker) {
    diff.differences.push_back({"Steps from", steps_a->marker, steps_b->marker});
  }
}

}  // namespace

ChangeKind Change::kind() const {
  if (a_ns == 0 && b_ns > 0) return ChangeKind::kNew;
  if (b_ns == 0 && a_ns > 0) return ChangeKind::kGone;
  if (std::abs(delta_ns()) <= kSameOfItem * std::max(a_ns, b_ns)) return ChangeKind::kSame;
  return delta_ns() > 0 ? ChangeKind::kSlower : ChangeKind::kFaster;
}

std::string_view ChangeKindName(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kSame:
      return "same";
    case ChangeKind::kSlower:
      return "slower";
    case ChangeKind::kFaster:
      return "faster";
    case ChangeKind::kNew:
      return "new";
    case ChangeKind::kGone:
      return "gone";
  }
  return "";
}

RunDiff DiffRuns(const RunOverview& a, const RunOverview& b) {
  RunDiff diff{.a = SideOf(a), .b = SideOf(b)};
  AddRunDifferences(diff, a, b);
  AddCounters(diff, a, b);
  for (const auto& [run, name] : {std::pair{&a, "the first"}, std::pair{&b, "the second"}}) {
    if (run->steps.processes.empty()) {
      diff.problem = std::string("in ") + name + " recording: " + run->steps.how;
    }
  }
  if (!diff.problem.empty()) {
    AddTotals(diff, a, b);
    return diff;
  }
  diff.interval = DifferenceOfMeans(StepDurations(a), StepDurations(b));
  const double step_a = diff.a.mean_ns;
  const double step_b = diff.b.mean_ns;
  AddList(diff,
          Compare({"phases", "Phases", "step", "rest"}, PhasesOf(a), PhasesOf(b), step_a, step_b));
  const Amounts gpu_a = GpuPartsOf(a);
  const Amounts gpu_b = GpuPartsOf(b);
  AddList(diff, Compare({"gpu_parts", "On the GPU", "step on the GPU", "rest"}, gpu_a, gpu_b,
                        Sum(gpu_a), Sum(gpu_b)));
  AddList(diff,
          Compare({"operators", "Operators, own time", "step", "outside operators, or beside"},
                  OperatorsOf(a), OperatorsOf(b), step_a, step_b));
  AddList(diff, Compare({"modules", "Modules, own forward", "step", "outside modules' forward"},
                        ModulesOf(a), ModulesOf(b), step_a, step_b));
  const Amounts kernels_a = KernelsOf(a);
  const Amounts kernels_b = KernelsOf(b);
  AddList(diff, Compare({"kernels", "Kernels", "kernel time", "rest"}, kernels_a, kernels_b,
                        Sum(kernels_a), Sum(kernels_b)));
  return diff;
}

}  // namespace batchlight
