#include "analysis/run/steps_alone.h"

#include <gtest/gtest.h>

#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

void AppendCallWithStack(int64_t start_ns, int64_t end_ns, Store& store) {
  store.api_calls.Append({.start_ns = start_ns, .end_ns = end_ns, .thread = ThreadId::At(0)});
  store.cuda_backtraces.Append({.process = ProcessId::At(0),
                                .native_stack = NativeStackId::At(0),
                                .api_call = ApiCallId::At(store.api_calls.size() - 1)});
}

// Steps of the first process from 0 to 100 and from 100 to 200, of which the second counts.
void KeepSecondOfTwoSteps(Store& store) {
  StepSet steps;
  steps.processes.push_back(
      {.process = ProcessId::At(0),
       .steps = {{.start_ns = 0, .end_ns = 100}, {.start_ns = 100, .end_ns = 200}},
       .steady = {1}});
  KeepStepsAlone(steps, store);
}

TEST(StepsAlone, HoldSamplesAndCallsOfTheProcessAndOfThoseThatItStarted) {
  Store store;
  for (const ProcessId parent : {ProcessId::None(), ProcessId::At(0), ProcessId::None()}) {
    store.processes.Append({.parent = parent});
    store.threads.Append({.process = ProcessId::At(store.processes.size() - 1)});
  }
  for (const size_t thread : {0, 1, 2}) {  // of the training process, a worker, another program
    for (const int64_t at_ns : {50, 150, 250, 300}) {
      store.cpu_samples.Append({.start_ns = at_ns, .thread = ThreadId::At(thread), .cpu_ns = 1});
    }
    for (const int64_t at_ns : {80, 180, 220, 290}) {
      store.os_calls.Append(
          {.start_ns = at_ns, .end_ns = at_ns + 30, .thread = ThreadId::At(thread)});
    }
  }
  store.os_call_counts.Append({.thread = ThreadId::At(0), .calls = 9});
  StepSet steps;
  steps.processes.push_back({.process = ProcessId::At(0),
                             .steps = {{.start_ns = 0, .end_ns = 100},
                                       {.start_ns = 100, .end_ns = 200},
                                       {.start_ns = 200, .end_ns = 300}},
                             .steady = {1, 2}});
  KeepStepsAlone(steps, store);
  EXPECT_EQ(store.cpu_samples.start_ns, (std::vector<int64_t>{150, 250, 150, 250}));
  EXPECT_EQ(store.os_calls.start_ns, (std::vector<int64_t>{180, 220, 180, 220}));
  EXPECT_EQ(store.cpu_samples.thread[3], ThreadId::At(1));
  EXPECT_EQ(store.os_call_counts.size(), 0u);
}

TEST(StepsAlone, HoldCallsOfCudasLibrariesAndStacksOfCudaCalls) {
  Store store;
  store.processes.Append({});
  store.threads.Append({.process = ProcessId::At(0)});
  for (const int64_t at_ns : {50, 90, 150}) {
    store.runtime_events.Append({.start_ns = at_ns,
                                 .end_ns = at_ns + 20,
                                 .thread = ThreadId::At(0),
                                 .family = RuntimeFamily::kCublas});
    AppendCallWithStack(at_ns, at_ns + 20, store);
  }
  KeepSecondOfTwoSteps(store);
  EXPECT_EQ(store.runtime_events.start_ns, std::vector<int64_t>{150});
  EXPECT_EQ(store.cuda_backtraces.api_call, std::vector<ApiCallId>{ApiCallId::At(2)});
}

TEST(StepsAlone, HoldWhatTakesNoTimeWhereItLies) {
  Store store;
  store.processes.Append({});
  store.threads.Append({.process = ProcessId::At(0)});
  for (const int64_t at_ns : {50, 100, 150, 200, 250}) {
    store.os_calls.Append({.start_ns = at_ns, .end_ns = at_ns, .thread = ThreadId::At(0)});
    store.runtime_events.Append({.start_ns = at_ns, .end_ns = at_ns, .thread = ThreadId::At(0)});
    AppendCallWithStack(at_ns, at_ns, store);
  }
  KeepSecondOfTwoSteps(store);
  EXPECT_EQ(store.os_calls.start_ns, (std::vector<int64_t>{100, 150}));
  EXPECT_EQ(store.runtime_events.start_ns, (std::vector<int64_t>{100, 150}));
  EXPECT_EQ(store.cuda_backtraces.api_call,
            (std::vector<ApiCallId>{ApiCallId::At(1), ApiCallId::At(2)}));
}

// PyTorch's averages are of the whole run, with its warm-up, unless some steps are asked for.
TEST(StepsAlone, AveragesAreOfTheStepsThatAreAskedFor) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t at = i * 1000, slow = i == 0 ? 9 : 1;
    build.Range(thread, "step", at, at + 900);
    build.Operator(thread, "aten::linear", at + 10, at + 100 * slow);
    build.Operator(thread, "aten::addmm", at + 20, at + 20 + 40 * slow);
    build.Kernel(thread, "gemm", at + 30, at + 500, at + 500 + 200);
    build.Operator(thread, "aten::zero", at + 300, at + 300);
    build.Operator(thread, "aten::item", at + 880, at + 990);  // not within a step
  }
  const Store store = build.Build();
  const auto row_of = [](const RunOverview& run, std::string_view name) {
    for (const FunctionAverage& row : run.function_averages->by_name()) {
      if (row.name == name) return row;
    }
    return FunctionAverage{};
  };
  const RunOverview whole = BuildOverview(store);
  EXPECT_EQ(row_of(whole, "aten::addmm").calls, 12);
  EXPECT_EQ(row_of(whole, "aten::addmm").cpu_ns, 11 * 40 + 360);
  EXPECT_EQ(row_of(whole, "aten::item").calls, 12);
  const RunOverview part =
      BuildOverview(store, {.steps = {.range = "step", .first_step = 2, .last_step = 6}});
  EXPECT_EQ(row_of(part, "aten::addmm").calls, 5);
  EXPECT_EQ(row_of(part, "aten::zero").calls, 5);
  EXPECT_EQ(row_of(part, "aten::addmm").cpu_ns, 5 * 40);
  EXPECT_EQ(row_of(part, "aten::linear").cpu_self_ns, 5 * (90 - 40));
  EXPECT_EQ(row_of(part, "aten::linear").gpu_ns, 5 * 200);
  EXPECT_EQ(row_of(part, "gemm").calls, 5);
}

}  // namespace
}  // namespace batchlight
