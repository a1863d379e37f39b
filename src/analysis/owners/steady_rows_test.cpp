#include "analysis/owners/steady_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/steps/step_clock.h"

namespace batchlight {
namespace {

// Two processes with steps and one without; threads of no, two and many calls.
struct SteppedRun {
  Store store;
  StepSet steps;
};

// Steps that sometimes follow each other at once, of which some are not steady.
ProcessSteps MakeSteps(ProcessId process, std::mt19937& random) {
  ProcessSteps made{.process = process};
  int64_t now_ns = static_cast<int64_t>(random() % 50);
  for (uint32_t i = 0; i < 12; ++i) {
    const int64_t end_ns = now_ns + 1 + static_cast<int64_t>(random() % 40);
    made.steps.push_back({.start_ns = now_ns, .end_ns = end_ns});
    if (random() % 3 != 0) made.steady.push_back(i);
    now_ns = end_ns + static_cast<int64_t>(random() % 2 * (random() % 30));
  }
  return made;
}

SteppedRun MakeRun(unsigned seed) {
  std::mt19937 random(seed);
  SteppedRun run;
  for (uint32_t i = 0; i < 3; ++i) {
    run.store.processes.Append({.pid = i});
    if (i < 2) run.steps.processes.push_back(MakeSteps(ProcessId::At(i), random));
  }
  for (uint32_t i = 0; i < 6; ++i) {
    run.store.threads.Append({.process = ProcessId::At(i % 3), .tid = i});
    const size_t calls = i == 4 ? 0 : random() % 2 == 0 ? 2 : 200;
    int64_t now_ns = 0;
    for (size_t call = 0; call < calls; ++call) {
      now_ns += static_cast<int64_t>(random() % 5);
      run.store.operator_calls.Append(
          {.start_ns = now_ns, .end_ns = now_ns + 1, .thread = ThreadId::At(i)});
    }
  }
  return run;
}

TEST(SteadyRows, AreThoseThatTheClockFindsSteady) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const SteppedRun run = MakeRun(seed);
    const OperatorCallsTable& calls = run.store.operator_calls;
    std::vector<uint32_t> expected;
    StepClock clock(run.store, run.steps);
    for (uint32_t row = 0; row < calls.size(); ++row) {
      if (clock.IsSteady(calls.thread[row], calls.start_ns[row])) expected.push_back(row);
    }
    std::vector<uint32_t> found;
    for (const SteadyRows& rows :
         FindSteadyRows(run.store, run.steps, ThreadSpans(calls.thread), calls.start_ns)) {
      EXPECT_LT(rows.begin, rows.end) << seed;
      for (uint32_t row = rows.begin; row < rows.end; ++row) found.push_back(row);
      EXPECT_TRUE(rows.thread_end == calls.size() ||
                  calls.thread[rows.thread_end] != calls.thread[rows.begin]);
      EXPECT_EQ(calls.thread[rows.thread_end - 1], calls.thread[rows.begin]);
    }
    EXPECT_EQ(found, expected) << seed;
  }
}

TEST(SteadyRows, ThereAreNoneWithoutSteps) {
  const SteppedRun run = MakeRun(1);
  const OperatorCallsTable& calls = run.store.operator_calls;
  EXPECT_TRUE(FindSteadyRows(run.store, {}, ThreadSpans(calls.thread), calls.start_ns).empty());
}

}  // namespace
}  // namespace batchlight
