// Sums for one choice of steps after another, beside sums by the definition: a call belongs to the
// step in which it begins, with all that it calls.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/module_sums.h"
#include "analysis/owners/nvtx_sums.h"
#include "analysis/owners/operator_sums.h"
#include "analysis/steps/step_clock.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kStepNs = 100;
constexpr size_t kSteps = 20;

// Calls within [from_ns, to_ns), nested in each other; they know nothing of steps.
template <typename Call>
void MakeCalls(std::mt19937& random, int64_t from_ns, int64_t to_ns, int depth, const Call& call) {
  while (from_ns < to_ns && depth < 5) {
    const int64_t start_ns = from_ns + static_cast<int64_t>(random() % 20);
    const int64_t end_ns = start_ns + static_cast<int64_t>(random() % (to_ns - from_ns));
    if (end_ns > to_ns) return;
    call(start_ns, end_ns);
    MakeCalls(random, start_ns, end_ns, depth + 1, call);
    from_ns = end_ns;
  }
}

Store MakeStore(unsigned seed, bool has_gpu = false) {
  std::mt19937 random(seed);
  testing::StoreBuilder build;
  const ProcessId process = build.Process(1, "train.py");
  const std::string names[] = {"a", "b", "c", "d"};
  for (int i = 0; i < 3; ++i) {
    const ThreadId thread = build.Thread(process);
    const auto name = [&] { return names[random() % 4]; };
    const int64_t end_ns = kStepNs * kSteps;
    MakeCalls(random, 0, end_ns, 0,
              [&](int64_t from, int64_t to) { build.Operator(thread, name(), from, to); });
    MakeCalls(random, 0, end_ns, 0,
              [&](int64_t from, int64_t to) { build.Range(thread, name(), from, to); });
    MakeCalls(random, 0, end_ns, 0,
              [&](int64_t from, int64_t to) { build.Module(thread, name(), "Class", from, to); });
    for (int kernel = 0; has_gpu && kernel < 60; ++kernel) {
      const auto call_ns = static_cast<int64_t>(random() % end_ns);
      const auto start_ns = call_ns + static_cast<int64_t>(random() % 300);
      build.Kernel(thread, "kernel", call_ns, start_ns, start_ns + 1 + kernel);
    }
  }
  return build.Build();
}

// Steps of which `steady` count.
StepSet MakeSteps(std::vector<uint32_t> steady) {
  StepSet steps;
  steps.processes.push_back({.process = ProcessId::At(0), .steady = std::move(steady)});
  for (size_t i = 0; i < kSteps; ++i) {
    const auto start_ns = static_cast<int64_t>(i) * kStepNs;
    steps.processes[0].steps.push_back({.start_ns = start_ns, .end_ns = start_ns + kStepNs});
  }
  return steps;
}

struct Sum {
  double calls = 0;
  double total_ns = 0;
  double self_ns = 0;
};

// By name, of the calls that begin in steady steps. `key`: of a call, what makes it nested in one.
template <typename Table, typename Key>
std::map<std::string, Sum> SumByDefinition(const Store& store, const StepSet& steps,
                                           const Table& calls, const Key& key) {
  std::map<std::string, Sum> sums;
  StepClock clock(store, steps);
  const auto time_of = [&](size_t row) { return double(calls.end_ns[row] - calls.start_ns[row]); };
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!clock.IsSteady(calls.thread[row], calls.start_ns[row])) continue;
    Sum& sum = sums[key(row)];
    ++sum.calls;
    sum.self_ns += time_of(row);
    for (size_t other = 0; other < calls.size(); ++other) {
      if (!calls.parent[other].IsNone() && calls.parent[other].row() == row) {
        sum.self_ns -= time_of(other);
      }
    }
    bool nested = false;
    for (auto up = calls.parent[row]; !up.IsNone(); up = calls.parent[up.row()]) {
      nested |= key(up.row()) == key(row);
    }
    if (!nested) sum.total_ns += time_of(row);
  }
  for (auto& [name, sum] : sums) {
    sum = {clock.PerStep(sum.calls), clock.PerStep(sum.total_ns), clock.PerStep(sum.self_ns)};
  }
  return sums;
}

const std::vector<uint32_t> kChoices[] = {{3}, {0, 1, 2, 9, 10, 15}, {}, {19}, {4, 6, 8, 10}, {3}};

TEST(SteadySums, OfOperatorsAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Store store = MakeStore(seed);
    const OperatorSums sums(store, BackwardLinks(store), {});
    for (const std::vector<uint32_t>& choice : kChoices) {
      const StepSet steps = MakeSteps(choice);
      const OperatorCallsTable& calls = store.operator_calls;
      auto expected = SumByDefinition(store, steps, calls, [&](size_t row) {
        return std::string(store.Text(calls.name[row]));
      });
      for (const OperatorRow& row :
           sums.Of(steps, CriticalTime(), LaunchSteps(store, steps), {}).by_name) {
        const Sum sum = expected[std::string(store.Text(row.name))];
        EXPECT_DOUBLE_EQ(row.calls_per_step, sum.calls) << seed;
        EXPECT_DOUBLE_EQ(row.total_per_step_ns, sum.total_ns) << seed;
        EXPECT_DOUBLE_EQ(row.self_per_step_ns, sum.self_ns) << seed;
      }
    }
  }
}

// What the GPU did for calls, and for all that they call, where steps that count launched it.
TEST(SteadySums, OfTheGpuAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Store store = MakeStore(seed, true);
    ASSERT_GT(store.kernels.size(), 0u);
    const BackwardLinks links(store);
    const Attribution work = AttributeWork(store, links);
    const OperatorSums sums(store, links, work);
    const OperatorCallsTable& calls = store.operator_calls;
    for (const std::vector<uint32_t>& choice : kChoices) {
      const StepSet steps = MakeSteps(choice);
      StepClock clock(store, steps);
      std::map<std::string, std::array<double, 4>> expected;  // own, with inner; in the run, a step
      for (size_t row = 0; row < store.kernels.size(); ++row) {
        const size_t call = store.kernels.api_call[row].row();
        const double ns = double(store.kernels.end_ns[row] - store.kernels.start_ns[row]);
        const double in_step_ns =
            clock.IsSteady(store.api_calls.thread[call], store.api_calls.start_ns[call]) ? ns : 0;
        std::set<std::string> named;
        for (OperatorCallId op = work.kernels[row].op; !op.IsNone(); op = calls.parent[op.row()]) {
          const std::string name(store.Text(calls.name[op.row()]));
          std::array<double, 4>& sum = expected[name];
          const bool is_own = named.empty();
          const bool is_first = named.insert(name).second;
          sum[0] += is_own ? ns : 0;
          sum[1] += is_first ? ns : 0;
          sum[2] += is_own ? in_step_ns : 0;
          sum[3] += is_first ? in_step_ns : 0;
        }
      }
      const LaunchSteps launched(store, steps);
      for (const OperatorRow& row : sums.Of(steps, CriticalTime(), launched, work).by_name) {
        const std::array<double, 4> sum = expected[std::string(store.Text(row.name))];
        EXPECT_DOUBLE_EQ(double(row.gpu_ns), sum[0]) << seed;
        EXPECT_DOUBLE_EQ(double(row.gpu_total_ns), sum[1]) << seed;
        EXPECT_DOUBLE_EQ(row.gpu_per_step_ns, clock.PerStep(sum[2])) << seed;
        EXPECT_DOUBLE_EQ(row.gpu_total_per_step_ns, clock.PerStep(sum[3])) << seed;
      }
    }
  }
}

TEST(SteadySums, OfRangesAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Store store = MakeStore(seed);
    const NvtxSums sums(store, {});
    for (const std::vector<uint32_t>& choice : kChoices) {
      const StepSet steps = MakeSteps(choice);
      const NvtxRangesTable& ranges = store.nvtx_ranges;
      auto expected = SumByDefinition(store, steps, ranges, [&](size_t row) {
        return std::string(store.Text(ranges.message[row]));
      });
      for (const NvtxRow& row : sums.Of(steps, CriticalTime()).rows) {
        const Sum sum = expected[std::string(store.Text(row.message))];
        EXPECT_DOUBLE_EQ(row.total_per_step_ns, sum.total_ns) << seed;
      }
    }
  }
}

// A module that calls itself keeps its row, so that rows are sums of calls: here by path alone.
TEST(SteadySums, OfModulesAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Store store = MakeStore(seed);
    const StepInputs inputs(store);
    const ModuleSums sums(inputs, BackwardLinks(store), {});
    for (const std::vector<uint32_t>& choice : kChoices) {
      const StepSet steps = MakeSteps(choice);
      const ModuleCallsTable& calls = store.module_calls;
      const auto expected = SumByDefinition(store, steps, calls, [&](size_t row) {
        return std::string(store.Text(calls.path[row]));
      });
      std::map<std::string, double> calls_of;
      const LaunchSteps launched(store, steps);
      for (const ModuleRow& row :
           sums.Of(steps, CriticalTime(), BackwardLinks(store), launched, {}).rows) {
        calls_of[row.path] += row.calls_per_step;
      }
      for (const auto& [path, sum] : expected) {
        EXPECT_NEAR(calls_of[path], sum.calls, 1e-9) << seed;
      }
    }
  }
}

// A choice of steps leaves nothing behind for the next.
TEST(SteadySums, AreTheSameAfterOtherChoices) {
  const Store store = MakeStore(7);
  const BackwardLinks links(store);
  const StepInputs inputs(store);
  const ModuleSums modules(inputs, links, {});
  const auto self_of = [&](const std::vector<uint32_t>& choice) {
    std::vector<double> self;
    const StepSet steps = MakeSteps(choice);
    const LaunchSteps launched(store, steps);
    for (const ModuleRow& row : modules.Of(steps, CriticalTime(), links, launched, {}).rows) {
      self.push_back(row.self_per_step_ns);
    }
    return self;
  };
  const std::vector<double> before = self_of({3, 4, 5});
  self_of({0, 19});
  EXPECT_EQ(self_of({3, 4, 5}), before);
}

}  // namespace
}  // namespace batchlight
