#include "analysis/lines/code_samples.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

class CodeSamplesTest : public testing::Test {
 protected:
  PythonStackId Frame(const char* file, const char* function, uint32_t line,
                      PythonStackId parent = {}) {
    store_.python_frames.Append({.file = store_.strings.Intern(file),
                                 .function = store_.strings.Intern(function),
                                 .first_line = 1,
                                 .line = line});
    store_.python_stacks.Append(
        {.frame = PythonFrameId::At(store_.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store_.python_stacks.size() - 1);
  }
  void Sample(int64_t start_ns, int64_t end_ns, PythonStackId stack, size_t thread = 0) {
    store_.python_samples.Append({.start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .thread = ThreadId::At(thread),
                                  .python_stack = stack,
                                  .samples = 1});
  }

  Store store_;
};

TEST_F(CodeSamplesTest, TimeIsOfTheInnermostOwnFunction) {
  const PythonStackId module = Frame("/home/u/train.py", "<module>", 90);
  const PythonStackId collect = Frame("/home/u/train.py", "collect", 42, module);
  const PythonStackId json = Frame("/usr/lib/python3.11/json/encoder.py", "iterencode", 7, collect);
  const PythonStackId later = Frame("/home/u/train.py", "collect", 43, module);
  Sample(0, 100, collect);
  Sample(100, 400, json);
  Sample(400, 500, later);
  Sample(500, 600, module);
  Sample(0, 1000, module, 1);  // another thread's
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{50, 510}, {590, 650}});
  EXPECT_EQ(time.all_ns, 600);
  ASSERT_EQ(time.functions.size(), 2u);
  EXPECT_EQ(time.functions[0].ns, 500);
  EXPECT_EQ(time.functions[0].line_ns, 400);
  EXPECT_EQ(time.functions[0].alone_ns, 100);
  EXPECT_EQ(FunctionText(store_, time.functions[0]), "`collect` (train.py:42)");
  EXPECT_EQ(FunctionText(store_, time.functions[1]), "the main program (train.py:90)");
  EXPECT_EQ(FunctionTexts(store_, time, 1), "`collect` (train.py:42)");
}

// The line that most of it was in, where that was longest: looks one after the other, in one of the
// stretches that are asked for, not in start-up.
TEST_F(CodeSamplesTest, TheLongestOfALineIsThatOfTheStretches) {
  const PythonStackId module = Frame("/home/u/train.py", "<module>", 2);
  const PythonStackId nap = Frame("/home/u/train.py", "<module>", 47);
  const PythonStackId sleep = Frame("/usr/lib/python3.11/time.py", "sleep", 7, nap);
  Sample(0, 990, module);
  Sample(1000, 1010, nap);
  Sample(1010, 1020, sleep);
  Sample(1020, 1030, module);
  Sample(1030, 1040, nap);
  Sample(2000, 2040, nap);
  const SampledTime time =
      CodeSamples(store_).During(ThreadId::At(0), {{995, 1035}, {1036, 1100}, {2010, 2050}});
  ASSERT_EQ(time.functions.size(), 1u);
  EXPECT_EQ(time.functions[0].line, 47u);
  EXPECT_EQ(time.functions[0].longest, (TimeSpan{2010, 2040}));
  const SampledTime first = CodeSamples(store_).During(ThreadId::At(0), {{995, 1035}});
  EXPECT_EQ(first.functions[0].longest, (TimeSpan{1000, 1020}));
  EXPECT_EQ(SumOf({first, time}).functions[0].longest, (TimeSpan{2010, 2040}));
}

// Also where the looks of a record are no whole nanoseconds apart.
TEST_F(CodeSamplesTest, LooksOfARecordEndWhereItEnds) {
  const PythonStackId nap = Frame("/home/u/train.py", "<module>", 47);
  const PythonStackId sleep = Frame("/usr/lib/python3.11/time.py", "sleep", 7, nap);
  Sample(1000, 1100, nap);
  store_.python_samples.samples.back() = 3;
  Sample(1100, 1150, sleep);
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{990, 1200}});
  ASSERT_EQ(time.functions.size(), 1u);
  EXPECT_EQ(time.functions[0].longest.end_ns, 1150);
  EXPECT_NEAR(double(time.functions[0].longest.start_ns), 1000, 1);
}

// A look says nothing of the time before it: a thread that loads for 8 ms was not in forward then.
TEST_F(CodeSamplesTest, ALookIsOfItsMoment) {
  const PythonStackId load = Frame("/home/u/train.py", "load", 1);
  const PythonStackId forward = Frame("/home/u/train.py", "forward", 2);
  Sample(0, 10, load);
  Sample(10, 20, forward);
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{0, 18}});
  ASSERT_EQ(time.functions.size(), 1u);
  EXPECT_EQ(time.functions[0].function, "load");
}

TEST_F(CodeSamplesTest, WhatStandsInsideAFunctionIsItsOwn) {
  Sample(0, 10, Frame("/home/u/a.py", "Replay.sample.<locals>.<listcomp>", 5));
  Sample(10, 20, Frame("/home/u/a.py", "Replay.sample", 4));
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{0, 100}});
  ASSERT_EQ(time.functions.size(), 1u);
  EXPECT_EQ(FunctionTexts(store_, time, 3), "`Replay.sample` (a.py:4)");
}

TEST_F(CodeSamplesTest, FunctionsThatHoldLittleAreNotNamed) {
  const PythonStackId wait = Frame("/usr/lib/python3.11/threading.py", "wait", 1);
  const PythonStackId collect = Frame("/home/u/train.py", "collect", 42);
  Sample(0, 700, wait);
  Sample(700, 1000, collect);
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{0, 1001}});
  EXPECT_EQ(time.all_ns, 1000);
  EXPECT_EQ(FunctionTexts(store_, time, 3), "");
}

TEST_F(CodeSamplesTest, WhoOnlyAskedForItIsNotNamed) {
  const PythonStackId main = Frame("/home/u/train.py", "main", 19);
  const PythonStackId fetch = Frame(
      "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py", "fetch", 52, main);
  const PythonStackId item = Frame("/home/u/data.py", "__getitem__", 9, fetch);
  const PythonStackId import = Frame("<frozen importlib._bootstrap>", "_load", 1, main);
  Sample(0, 100, fetch);
  Sample(100, 400, item);
  Sample(400, 900, import);
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{0, 1000}});
  EXPECT_EQ(time.all_ns, 400);
  ASSERT_EQ(time.functions.size(), 1u);
  EXPECT_EQ(FunctionText(store_, time.functions[0]), "`__getitem__` (data.py:9)");
  const SampledTime both = SumOf({time, time});
  EXPECT_EQ(both.all_ns, 800);
  ASSERT_EQ(both.functions.size(), 1u);
  EXPECT_EQ(both.functions[0].ns, 600);
}

// The loop calls `evaluate`, which calls the model, as the loop does itself.
TEST_F(CodeSamplesTest, WhatALoopCallsIsTheOutermostFunctionThatIsNotItsOwn) {
  const PythonStackId main = Frame("/home/u/train.py", "main", 19);
  const PythonStackId trains = Frame("/home/u/model.py", "Net.forward", 5, main);
  const PythonStackId evaluate = Frame("/home/u/train.py", "evaluate", 8, main);
  const PythonStackId metric = Frame("/home/u/train.py", "f1", 3, evaluate);
  const PythonStackId forward = Frame("/home/u/model.py", "Net.forward", 5, evaluate);
  Sample(0, 100, trains);
  Sample(100, 300, forward);
  Sample(300, 500, metric);
  Sample(500, 550, main);
  const CodeSamples samples(store_);
  const auto loop = samples.OnStacks(ThreadId::At(0), {{0, 101}});
  const SampledTime called = samples.CalledFrom(loop, ThreadId::At(0), {{101, 551}});
  EXPECT_EQ(called.all_ns, 450);
  ASSERT_EQ(called.functions.size(), 1u);
  EXPECT_EQ(called.functions[0].ns, 400);
  EXPECT_EQ(FunctionText(store_, called.functions[0]), "`evaluate` (train.py:8)");
}

TEST_F(CodeSamplesTest, WhatPackagesDoForItIsNamed) {
  const PythonStackId read = Frame("/home/u/data.py", "Shards.read", 45);
  const PythonStackId load = Frame("/x/site-packages/numpy/lib/npyio.py", "load", 7, read);
  Sample(0, 60, Frame("/usr/lib/python3.12/zipfile/__init__.py", "ZipExtFile._read1", 9, load));
  Sample(60, 70, load);
  Sample(70, 100, read);
  const SampledTime time = CodeSamples(store_).During(ThreadId::At(0), {{0, 200}});
  EXPECT_EQ(CalledText(store_, time), "`ZipExtFile._read1` of zipfile");
  EXPECT_EQ(CalledText(store_, SumOf({time, time})), "`ZipExtFile._read1` of zipfile");
  EXPECT_EQ(FunctionTexts(store_, time, 1), "`Shards.read` (data.py:45)");
}

TEST_F(CodeSamplesTest, WithoutSamplesThereIsNothing) {
  const CodeSamples samples(store_);
  EXPECT_TRUE(samples.empty());
  EXPECT_TRUE(samples.During(ThreadId::At(0), {{0, 1000}}).functions.empty());
}

}  // namespace
}  // namespace batchlight
