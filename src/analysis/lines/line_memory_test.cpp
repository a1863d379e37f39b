#include "analysis/lines/line_memory.h"

#include <gtest/gtest.h>

#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

class LineMemoryTest : public testing::LinesTest {
 protected:
  void Block(PythonStackId stack, int64_t start_ns, int64_t end_ns, uint64_t bytes,
             MemorySource source = MemorySource::kNative, uint64_t represented = 0) {
    build.store().memory_blocks.Append({.start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .thread = main,
                                        .bytes = bytes,
                                        .represented_bytes = represented > 0 ? represented : bytes,
                                        .source = source,
                                        .python_stack = stack});
  }
  const LineMemoryRow& Row(const LineMemory& memory, uint32_t line) const {
    static const LineMemoryRow kNone;
    for (const LineMemoryRow& row : memory.rows) {
      const uint32_t found = row.frame.IsNone() ? 0 : store.python_frames.line[row.frame.row()];
      if (found == line) return row;
    }
    ADD_FAILURE() << "no row of line " << line;
    return kNone;
  }

  Store store;
};

TEST_F(LineMemoryTest, PeakAndWhoHoldsIt) {
  const PythonStackId caller = Frame("/home/user/train.py", 7);
  const PythonStackId inside = Frame("/v/lib/python3.11/site-packages/numpy/core.py", 99, caller);
  const PythonStackId other = Frame("/home/user/train.py", 8);
  Block(inside, 10, 40, 1000);
  Block(other, 20, kOpenEnd, 300, MemorySource::kPython);
  Block(caller, 40, 50, 1100);  // as the first is freed
  Block({}, 45, kOpenEnd, 50);
  Block(other, 60, 70, 16, MemorySource::kPython, 160);
  store = build.Build();
  const LineMemory memory = MeasureLineMemory(store, {});
  ASSERT_EQ(memory.rows.size(), 3u);
  EXPECT_EQ(memory.peak_bytes, 1450u);
  EXPECT_EQ(memory.allocated_bytes, 2610u);
  EXPECT_EQ(memory.blocks, 5u);
  EXPECT_EQ(&Row(memory, 7), &memory.rows[0]);
  EXPECT_EQ(Row(memory, 7).allocated_bytes, 2100u);
  EXPECT_EQ(Row(memory, 7).allocations, 2u);
  EXPECT_EQ(Row(memory, 7).peak_bytes, 1100u);
  EXPECT_EQ(Row(memory, 7).end_bytes, 0u);
  EXPECT_EQ(Row(memory, 8).peak_bytes, 300u);
  EXPECT_EQ(Row(memory, 8).peak_python_bytes, 300u);
  EXPECT_EQ(Row(memory, 8).python_bytes, 460u);
  EXPECT_EQ(Row(memory, 8).allocations, 11u);
  EXPECT_EQ(Row(memory, 8).end_bytes, 300u);
  EXPECT_EQ(Row(memory, 0).peak_bytes, 50u);
  EXPECT_EQ(memory.steps, 0u);
}

TEST_F(LineMemoryTest, GrowthIsWhatStaysFromStepToStep) {
  const PythonStackId leak = Frame("/home/user/train.py", 7);
  const PythonStackId temporary = Frame("/home/user/train.py", 8);
  const PythonStackId model = Frame("/home/user/train.py", 9);
  Block(model, 1, kOpenEnd, 5000);
  ProcessSteps steps{.process = ProcessId::At(0)};
  for (int64_t step = 0; step < 300; ++step) {
    const int64_t at = 100 + step * 10;
    steps.steady.push_back(static_cast<uint32_t>(steps.steps.size()));
    steps.steps.push_back({.start_ns = at, .end_ns = at + 10});
    Block(leak, at + 2, kOpenEnd, 64);
    Block(temporary, at + 3, at + 9, 4096);
  }
  store = build.Build();
  StepSet set;
  set.processes.push_back(steps);
  const LineMemory memory = MeasureLineMemory(store, set);
  EXPECT_EQ(memory.steps, 300u);
  EXPECT_DOUBLE_EQ(Row(memory, 7).growth_per_step_bytes, 64);
  EXPECT_DOUBLE_EQ(Row(memory, 7).rising_share, 1);
  EXPECT_DOUBLE_EQ(Row(memory, 8).growth_per_step_bytes, 0);
  EXPECT_DOUBLE_EQ(Row(memory, 9).growth_per_step_bytes, 0);
  EXPECT_DOUBLE_EQ(Row(memory, 9).rising_share, 0);
}

}  // namespace
}  // namespace batchlight
