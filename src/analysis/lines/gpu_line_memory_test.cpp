#include "analysis/lines/gpu_line_memory.h"

#include <map>
#include <string>

#include "analysis/lines/line_memory.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kOptimizer;
using testing::kTrain;

class GpuLineMemoryTest : public testing::LinesTest {
 protected:
  void Block(ThreadId thread, int64_t start_ns, int64_t end_ns, uint64_t bytes,
             PythonStackId stack = {}, uint8_t gpu = 0) {
    build.store().memory_blocks.Append({.start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .thread = thread,
                                        .address = 0x1000,
                                        .bytes = bytes,
                                        .represented_bytes = bytes,
                                        .source = static_cast<MemorySource>(kFirstGpuSource + gpu),
                                        .python_stack = stack});
  }

  GpuLineMemory Measure() {
    store = build.Build();
    return MeasureGpuLineMemory(store);
  }

  std::map<std::string, GpuMemoryRow> Rows(const GpuLineMemory& memory) const {
    std::map<std::string, GpuMemoryRow> rows;
    for (const GpuMemoryRow& row : memory.rows) {
      std::string key(LineKindName(row.kind));
      if (!row.frame.IsNone()) {
        key += ' ' + std::to_string(store.python_frames.line[row.frame.row()]);
      }
      EXPECT_TRUE(rows.emplace(key, row).second) << key << " twice";
    }
    return rows;
  }

  Store store;
};

TEST_F(GpuLineMemoryTest, WhatBackwardAllocatesIsTheLinesOfTheForward) {
  ForwardAndBackward();
  Block(main, 150, 360, 1000);
  Block(autograd, 350, kOpenEnd, 400);
  Block(main, 500, kOpenEnd, 50, Frame(kTrain, 40, script));
  Block(main, 600, kOpenEnd, 7);  // no operator, no Python code
  const GpuLineMemory memory = Measure();
  EXPECT_EQ(memory.peak_bytes, 1400u);
  EXPECT_EQ(memory.allocated_bytes, 1457u);
  const auto rows = Rows(memory);
  ASSERT_EQ(rows.size(), 3u);
  const GpuMemoryRow& line = rows.at("line 10");
  EXPECT_EQ(line.allocations, 2u);
  EXPECT_EQ(line.allocated_bytes, 1400u);
  EXPECT_EQ(line.backward_bytes, 400u);
  EXPECT_EQ(line.peak_bytes, 1400u);
  EXPECT_EQ(line.end_bytes, 400u);
  EXPECT_EQ(CallersText(store, line.stack, line.frame), "train.py:90 f");
  EXPECT_EQ(rows.at("line 40").peak_bytes, 0u);
  EXPECT_EQ(rows.at("line 40").end_bytes, 50u);
  EXPECT_EQ(rows.at("no line known").allocated_bytes, 7u);
}

TEST_F(GpuLineMemoryTest, StateOfTheOptimizerAndSumsOfGradientsHaveRowsOfTheirOwn) {
  ForwardAndBackward();
  Operator(autograd, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 400,
           450);
  Block(autograd, 420, kOpenEnd, 64);
  const PythonStackId step = Frame(kTrain, 95);
  Operator(main, "aten::zeros_like", 500, 600, Frame(kOptimizer, 80, step));
  Block(main, 550, kOpenEnd, 128);
  const auto rows = Rows(Measure());
  EXPECT_EQ(rows.at("rest of backward").backward_bytes, 64u);
  EXPECT_EQ(rows.at("optimizer 95").peak_bytes, 128u);
}

TEST_F(GpuLineMemoryTest, EachGpuOfEachProcessHasItsOwnPeak) {
  const ThreadId other = build.Thread(build.Process(200, "train.py"));
  Operator(main, "aten::empty", 0, 1000, line10);
  Operator(other, "aten::empty", 0, 1000, line10);
  Block(main, 100, 120, 10);
  Block(other, 110, 130, 20);
  Block(main, 120, 150, 5);
  Block(main, 130, 140, 40, {}, 1);
  const GpuLineMemory memory = Measure();
  EXPECT_EQ(memory.peak_bytes, 70u);
  EXPECT_EQ(Rows(memory).at("line 10").peak_bytes, 70u);
}

TEST_F(GpuLineMemoryTest, WithoutStacksThereAreNoRows) {
  build.Operator(main, "aten::empty", 0, 1000);
  Block(main, 100, 200, 10);
  EXPECT_TRUE(Measure().empty());
}

TEST_F(GpuLineMemoryTest, MemoryOfTheProgramIsApart) {
  Block(main, 100, 200, 10, line10);
  build.store().memory_blocks.Append({.start_ns = 50,
                                      .end_ns = 60,
                                      .thread = main,
                                      .bytes = 3,
                                      .represented_bytes = 3,
                                      .python_stack = line10});
  Operator(main, "aten::empty", 0, 1000, line10);
  EXPECT_EQ(Measure().allocated_bytes, 10u);
  EXPECT_EQ(MeasureLineMemory(store, {}).allocated_bytes, 3u);
}

}  // namespace
}  // namespace batchlight
