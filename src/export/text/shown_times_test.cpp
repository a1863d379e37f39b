#include "export/text/shown_times.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

struct ShownTimesTest : ::testing::Test {
  ShownTimesTest() {
    for (const size_t row : {0, 1}) {
      store.processes.Append({.pid = uint32_t(row + 1)});
      store.threads.Append({.process = ProcessId::At(row), .tid = uint32_t(row + 1)});
    }
    steps.processes.push_back({.process = ProcessId::At(0),
                               .thread = main,
                               .steps = {{.start_ns = 0, .end_ns = 100, .kind = StepKind::kWarmUp},
                                         {.start_ns = 100, .end_ns = 200},
                                         {.start_ns = 300, .end_ns = 400}},
                               .steady = {1, 2}});
    EXPECT_TRUE(selection.SetTimes("150ns/350ns").ok());
    for (const int64_t start_ns : {0, 120, 180, 340}) {
      store.python_samples.Append({.start_ns = start_ns,
                                   .end_ns = start_ns + 40,
                                   .thread = main,
                                   .python_stack = PythonStackId::At(0),
                                   .cpu_ns = 20});
    }
    store.python_samples.Append(
        {.start_ns = 310, .end_ns = 320, .thread = beside, .python_stack = PythonStackId::At(0)});
  }

  // Of each sample, what is left of it.
  std::vector<int64_t> Left() {
    std::vector<int64_t> left;
    for (size_t row = 0; row < store.python_samples.size(); ++row) {
      const bool is_shown = !store.python_samples.python_stack[row].IsNone();
      const int64_t ns = store.python_samples.end_ns[row] - store.python_samples.start_ns[row];
      EXPECT_EQ(is_shown, ns > 0);
      left.push_back(ns);
    }
    return left;
  }

  Store store;
  const ThreadId main = ThreadId::At(0), beside = ThreadId::At(1);
  StepSet steps;
  EventSelection selection;
};

using Ns = std::vector<int64_t>;

TEST_F(ShownTimesTest, SamplesOfPythonAreCut) {
  EXPECT_TRUE(KeepShownTimes(selection, nullptr, ExportStacks::kPythonSamples, store));
  EXPECT_EQ(Left(), (Ns{0, 10, 40, 10, 10}));
  EXPECT_EQ(store.python_samples.cpu_ns[1], 5);
  EXPECT_EQ(store.python_samples.cpu_ns[2], 20);
}

TEST_F(ShownTimesTest, OfStepsTheirProcessIsShown) {
  EXPECT_TRUE(KeepShownTimes({}, &steps, ExportStacks::kPythonSamples, store));
  EXPECT_EQ(Left(), (Ns{0, 40, 20, 40, 0}));
}

TEST_F(ShownTimesTest, BothCutTogether) {
  EXPECT_TRUE(KeepShownTimes(selection, &steps, ExportStacks::kPythonSamples, store));
  EXPECT_EQ(Left(), (Ns{0, 10, 20, 10, 0}));
}

TEST_F(ShownTimesTest, SaysThatNothingIsLeft) {
  EventSelection later;
  ASSERT_TRUE(later.SetTimes("1s/2s").ok());
  EXPECT_FALSE(KeepShownTimes(later, nullptr, ExportStacks::kPythonSamples, store));
}

TEST_F(ShownTimesTest, CallsAreKeptWhole) {
  for (const int64_t start_ns : {140, 160, 340}) {
    store.os_calls.Append({.start_ns = start_ns,
                           .end_ns = start_ns + 30,
                           .thread = main,
                           .native_stack = NativeStackId::At(0)});
    store.cpu_samples.Append(
        {.start_ns = start_ns, .thread = main, .native_stack = NativeStackId::At(0)});
  }
  EXPECT_TRUE(KeepShownTimes(selection, nullptr, ExportStacks::kOsCalls, store));
  EXPECT_TRUE(KeepShownTimes(selection, nullptr, ExportStacks::kNative, store));
  std::vector<bool> calls, samples;
  for (size_t row = 0; row < 3; ++row) {
    calls.push_back(!store.os_calls.native_stack[row].IsNone());
    samples.push_back(!store.cpu_samples.native_stack[row].IsNone());
  }
  EXPECT_EQ(calls, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(samples, (std::vector<bool>{false, true, true}));
}

TEST_F(ShownTimesTest, CallsThatTakeNoTimeAreShownWhereTheyLie) {
  for (const int64_t start_ns : {140, 150, 250, 350}) {
    store.os_calls.Append({.start_ns = start_ns,
                           .end_ns = start_ns,
                           .thread = main,
                           .native_stack = NativeStackId::At(0)});
  }
  EXPECT_TRUE(KeepShownTimes(selection, &steps, ExportStacks::kOsCalls, store));
  std::vector<bool> calls;
  for (size_t row = 0; row < 4; ++row) calls.push_back(!store.os_calls.native_stack[row].IsNone());
  EXPECT_EQ(calls, (std::vector<bool>{false, true, false, false}));
}

}  // namespace
}  // namespace batchlight
