#include "analysis/python/sampled_code.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(SampledCode, RecursionCountsOnceAndThreadsAreCounted) {
  Store store;
  const auto frame = [&](const char* function, uint32_t line, PythonStackId parent) {
    store.python_frames.Append({.file = store.strings.Intern("/u/a.py"),
                                .function = store.strings.Intern(function),
                                .first_line = 10,
                                .line = line});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store.python_stacks.size() - 1);
  };
  const PythonStackId outer = frame("walk", 12, {});
  const PythonStackId inner = frame("walk", 13, outer);
  const auto sample = [&](PythonStackId stack, size_t thread, int64_t ns, int64_t cpu_ns) {
    store.python_samples.Append({.start_ns = 0,
                                 .end_ns = ns,
                                 .thread = ThreadId::At(thread),
                                 .python_stack = stack,
                                 .samples = 2,
                                 .cpu_ns = cpu_ns});
  };
  sample(inner, 0, 100, 90);
  sample(inner, 1, 50, 0);
  sample(outer, 1, 25, 25);
  const std::vector<SampledCode> functions = SumSamplesByPythonFunction(store);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].samples, 6u);
  EXPECT_EQ(functions[0].self_ns, 175);
  EXPECT_EQ(functions[0].self_cpu_ns, 115);
  EXPECT_EQ(functions[0].total_ns, 175);
  EXPECT_EQ(functions[0].threads, 2u);
  EXPECT_EQ(functions[0].line, 10u);
  const std::vector<SampledCode> lines = SumSamplesByPythonLine(store);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 13u);
  EXPECT_EQ(lines[0].self_cpu_ns, 90);
  EXPECT_EQ(lines[0].total_ns, 150);
  EXPECT_EQ(lines[1].line, 12u);
  EXPECT_EQ(lines[1].self_ns, 25);
  EXPECT_EQ(lines[1].total_ns, 175);
}

}  // namespace
}  // namespace batchlight
