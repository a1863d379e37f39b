#include "analysis/run/steps_alone.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

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
    store.api_calls.Append({.start_ns = at_ns, .end_ns = at_ns + 20, .thread = ThreadId::At(0)});
    store.cuda_backtraces.Append({.process = ProcessId::At(0),
                                  .native_stack = NativeStackId::At(0),
                                  .api_call = ApiCallId::At(store.api_calls.size() - 1)});
  }
  StepSet steps;
  steps.processes.push_back(
      {.process = ProcessId::At(0),
       .steps = {{.start_ns = 0, .end_ns = 100}, {.start_ns = 100, .end_ns = 200}},
       .steady = {1}});
  KeepStepsAlone(steps, store);
  EXPECT_EQ(store.runtime_events.start_ns, std::vector<int64_t>{150});
  EXPECT_EQ(store.cuda_backtraces.api_call, std::vector<ApiCallId>{ApiCallId::At(2)});
}

}  // namespace
}  // namespace batchlight
