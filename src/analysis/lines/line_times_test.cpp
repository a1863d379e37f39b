#include "analysis/lines/line_times.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/lines/call_lines.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kCheckpoint;
using testing::kModule;
using testing::kOptimizer;
using testing::kTrain;

class LineTimesTest : public testing::LinesTest {
 protected:
  LineTimes Measure() {
    store = build.Build();
    const BackwardLinks links(store);
    return MeasureLines(store, links, AttributeWork(store, links));
  }

  // "kind line" -> row
  std::map<std::string, LineRow> Rows(const LineTimes& times) const {
    std::map<std::string, LineRow> rows;
    for (const LineRow& row : times.rows) {
      std::string key(LineKindName(row.kind));
      if (!row.frame.IsNone()) {
        key += ' ' + std::to_string(store.python_frames.line[row.frame.row()]);
      }
      EXPECT_TRUE(rows.emplace(key, row).second) << key << " twice";
    }
    return rows;
  }

  void ExpectSums(const LineTimes& times) const {
    int64_t gpu = 0, cpu = 0, kernels = 0;
    for (const LineRow& row : times.rows) {
      gpu += row.gpu_ns();
      cpu += row.cpu_ns();
    }
    for (size_t i = 0; i < store.kernels.size(); ++i) {
      kernels += store.kernels.end_ns[i] - store.kernels.start_ns[i];
    }
    EXPECT_EQ(gpu, times.gpu_ns);
    EXPECT_EQ(gpu, kernels);
    EXPECT_EQ(cpu, times.cpu_ns);
  }

  Store store;
};

TEST_F(LineTimesTest, ForwardAndBackwardAreTheLinesOfTheForward) {
  ForwardAndBackward();
  const LineTimes times = Measure();
  ExpectSums(times);
  const auto rows = Rows(times);
  ASSERT_EQ(rows.size(), 1u);
  const LineRow& row = rows.at("line 10");
  EXPECT_EQ(row.calls, 1u);
  EXPECT_EQ(row.gpu_forward_ns, 300);
  EXPECT_EQ(row.gpu_backward_ns, 600);
  EXPECT_EQ(row.cpu_forward_ns, 100);
  EXPECT_EQ(row.cpu_backward_ns, 100);
  EXPECT_EQ(CallersText(store, row.stack, row.frame), "train.py:90 f");
}

TEST_F(LineTimesTest, WhatNoLineMadeHasRowsOfItsOwn) {
  ForwardAndBackward();
  Operator(autograd, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 400,
           450);
  build.Kernel(autograd, "add", 420, 1900, 1950);
  const PythonStackId step = Frame(kTrain, 95);
  Operator(main, "aten::_foreach_add_", 500, 600, Frame(kOptimizer, 80, step));
  build.Kernel(main, "multi_tensor", 550, 2000, 2070);
  build.Kernel(main, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 700, 2100, 2200);
  build.Kernel(main, "mystery", 800, 2200, 2203);
  const LineTimes times = Measure();
  ExpectSums(times);
  const auto rows = Rows(times);
  EXPECT_EQ(rows.at("rest of backward").gpu_backward_ns, 50);
  EXPECT_EQ(rows.at("rest of backward").cpu_backward_ns, 50);
  EXPECT_EQ(rows.at("optimizer 95").gpu_forward_ns, 70);
  EXPECT_EQ(rows.at("collectives").gpu_ns(), 100);
  EXPECT_EQ(rows.at("no line known").gpu_ns(), 3);
}

TEST_F(LineTimesTest, CheckpointingRunsForwardAgain) {
  ForwardAndBackward();
  // Within the backward of line 10, which calls Python again.
  const PythonStackId again = Frame(kTrain, 20, Frame(kCheckpoint, 30, script));
  Operator(autograd, "aten::gelu", 320, 330, again, 9);
  build.Kernel(autograd, "gelu", 325, 1950, 1990);
  const LineTimes times = Measure();
  ExpectSums(times);
  const auto rows = Rows(times);
  EXPECT_EQ(rows.at("line 20").gpu_recompute_ns, 40);
  EXPECT_EQ(rows.at("line 20").cpu_recompute_ns, 10);
  EXPECT_EQ(rows.at("line 20").calls, 0u);
  EXPECT_EQ(rows.at("line 10").cpu_backward_ns, 90);
}

TEST_F(LineTimesTest, PythonInsideBackwardIsAHookOrTheFunctionsOwnBackward) {
  ForwardAndBackward();
  const PythonStackId code = Frame(kTrain, 30, script);
  Operator(autograd, "aten::mul", 320, 330, code);  // inside the backward of line 10
  Operator(autograd, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 400,
           450);
  Operator(autograd, "aten::clamp", 410, 430, code);  // a tensor's hook
  const LineTimes times = Measure();
  ExpectSums(times);
  const auto rows = Rows(times);
  EXPECT_EQ(rows.at("line 10").cpu_backward_ns, 100);
  EXPECT_EQ(rows.at("hook in backward 30").cpu_backward_ns, 20);
  EXPECT_EQ(rows.at("rest of backward").cpu_backward_ns, 30);
}

TEST_F(LineTimesTest, RangesOfTheUserAreNoOperators) {
  Operator(main, "my step", 50, 500, Frame(kTrain, 8, script), -1, 0, OperatorScope::kUser);
  Operator(main, "aten::linear", 100, 200, line10);
  const auto rows = Rows(Measure());
  EXPECT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at("line 10").cpu_forward_ns, 100);
}

TEST_F(LineTimesTest, ALaunchOutsideOfOperatorsHasTheStackOfItsCall) {
  build.Kernel(main, "triton_kernel", 100, 1000, 1080);
  Store& tables = build.store();
  tables.cuda_call_stacks.Append({.process = process,
                                  .correlation = tables.kernels.correlation.back(),
                                  .python_stack = Frame(kTrain, 40, script)});
  const LineTimes times = Measure();
  ExpectSums(times);
  EXPECT_EQ(Rows(times).at("line 40").gpu_forward_ns, 80);
}

TEST_F(LineTimesTest, CallsHaveTheirOwnStackOrTheirOperators) {
  ForwardAndBackward();
  build.Kernel(main, "outside", 250, 2000, 2010);
  build.Kernel(main, "triton_kernel", 260, 2010, 2020);
  Store& tables = build.store();
  tables.cuda_call_stacks.Append({.process = process,
                                  .correlation = tables.kernels.correlation.back(),
                                  .python_stack = Frame(kTrain, 40, script)});
  store = build.Build();
  const std::vector<PythonStackId> stacks = PythonStacksOfCalls(store);
  std::map<int64_t, uint32_t> lines;  // by start of the call; 0: no stack
  for (size_t row = 0; row < stacks.size(); ++row) {
    const PythonStackId stack = stacks[row];
    lines[store.api_calls.start_ns[row]] =
        stack.IsNone() ? 0 : store.python_frames.line[store.python_stacks.frame[stack.row()].row()];
  }
  EXPECT_EQ(lines, (std::map<int64_t, uint32_t>{{150, 500}, {250, 0}, {260, 40}, {350, 0}}));
}

TEST_F(LineTimesTest, LongCallsHaveTheStackThatALookFoundMeanwhile) {
  constexpr int64_t kMs = 1'000'000;
  Store& tables = build.store();
  const auto look = [&](ThreadId thread, int64_t from_ms, int64_t to_ms, uint32_t looks,
                        uint32_t line) {
    tables.python_samples.Append({.start_ns = from_ms * kMs,
                                  .end_ns = to_ms * kMs,
                                  .thread = thread,
                                  .python_stack = Frame(kTrain, line, script),
                                  .samples = looks});
  };
  const auto call = [&](ThreadId thread, int64_t from_ms, int64_t to_ms) {
    tables.os_calls.Append({.start_ns = from_ms * kMs, .end_ns = to_ms * kMs, .thread = thread});
  };
  look(main, 0, 30, 3, 10);  // at 10, 20 and 30 ms
  look(main, 30, 40, 1, 20);
  look(autograd, 0, 100, 1, 30);
  call(main, 11, 19);       // none of the looks
  call(main, 12, 22);       // the second
  call(main, 31, 41);       // the next
  call(main, 31, 33);       // too short
  call(main, 50, 90);       // none came
  call(autograd, 90, 110);  // another thread's
  build.ApiCall(main, "cudaStreamSynchronize", 32 * kMs, 45 * kMs);
  store = build.Build();
  const auto line_of = [&](PythonStackId stack) {
    return stack.IsNone() ? 0
                          : store.python_frames.line[store.python_stacks.frame[stack.row()].row()];
  };
  const std::vector<PythonStackId> stacks = PythonStacksOfOsCalls(store);
  std::map<std::pair<int64_t, int64_t>, uint32_t> lines;
  for (size_t row = 0; row < stacks.size(); ++row) {
    lines[{store.os_calls.start_ns[row] / kMs, store.os_calls.end_ns[row] / kMs}] =
        line_of(stacks[row]);
  }
  EXPECT_EQ(lines, (std::map<std::pair<int64_t, int64_t>, uint32_t>{{{11, 19}, 0},
                                                                    {{12, 22}, 10},
                                                                    {{31, 41}, 20},
                                                                    {{31, 33}, 0},
                                                                    {{50, 90}, 0},
                                                                    {{90, 110}, 30}}));
  ASSERT_EQ(PythonStacksOfCallsAndLooks(store).size(), 1u);
  EXPECT_EQ(line_of(PythonStacksOfCallsAndLooks(store)[0]), 20u);
}

TEST_F(LineTimesTest, WithoutStacksThereAreNoRows) {
  testing::StoreBuilder plain;
  const ThreadId thread = plain.Thread(plain.Process(1, "a"));
  plain.Operator(thread, "aten::add", 0, 10);
  const Store recorded = plain.Build();
  const BackwardLinks links(recorded);
  EXPECT_TRUE(MeasureLines(recorded, links, AttributeWork(recorded, links)).empty());
}

}  // namespace
}  // namespace batchlight
