#include "analysis/python/sampled_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

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
  const std::vector<SampledCode> functions = SumSamplesByPythonFunction(store, {});
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].samples, 6u);
  EXPECT_EQ(functions[0].self_ns, 175);
  EXPECT_EQ(functions[0].self_cpu_ns, 115);
  EXPECT_EQ(functions[0].total_ns, 175);
  EXPECT_EQ(functions[0].threads, 2u);
  EXPECT_EQ(functions[0].line, 10u);
  const std::vector<SampledCode> lines = SumSamplesByPythonLine(store, {});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 13u);
  EXPECT_EQ(lines[0].self_cpu_ns, 90);
  EXPECT_EQ(lines[0].total_ns, 150);
  EXPECT_EQ(lines[1].line, 12u);
  EXPECT_EQ(lines[1].self_ns, 25);
  EXPECT_EQ(lines[1].total_ns, 175);
}

// Over looks one after the other, whatever stack they found it on, and in a step that counts where
// it was in one without a break.
TEST(SampledCode, TheLongestIsWhereItIsToBeSeen) {
  Store store;
  const auto frame = [&](const char* function, PythonStackId parent) {
    store.python_frames.Append({.file = store.strings.Intern("/u/a.py"),
                                .function = store.strings.Intern(function),
                                .first_line = 10,
                                .line = 12});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(store.python_stacks.size() - 1);
  };
  const PythonStackId main = frame("main", {}), nap = frame("nap", main);
  const auto sample = [&](PythonStackId stack, int64_t from_ns, int64_t to_ns) {
    store.python_samples.Append({.start_ns = from_ns,
                                 .end_ns = to_ns,
                                 .thread = ThreadId::At(0),
                                 .python_stack = stack,
                                 .samples = 1});
  };
  sample(main, 0, 30);
  sample(nap, 30, 60);
  sample(nap, 60, 100);
  sample(nap, 110, 120);
  StepSet steps;
  std::vector<SampledCode> found = SumSamplesByPythonFunction(store, steps);
  ASSERT_EQ(found.size(), 2u);
  const auto longest = [&](const char* function) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const SampledCode& code) {
      return store.Text(code.function) == function;
    });
    return at->longest;
  };
  EXPECT_EQ(longest("nap"), (TimeSpan{30, 100}));
  EXPECT_EQ(longest("main"), (TimeSpan{0, 100}));
  steps.processes.push_back({.thread = ThreadId::At(0)});
  steps.processes[0].steps.push_back({.start_ns = 105, .end_ns = 130});
  steps.processes[0].steady = {0};
  found = SumSamplesByPythonFunction(store, steps);
  EXPECT_EQ(longest("nap"), (TimeSpan{110, 120}));
}

TEST(SampledCode, TheRecordersCodeHasOnlyWhatItTakesItself) {
  Store store;
  PythonStackId stack;
  std::vector<PythonStackId> stacks;
  for (const auto& [file, function] : {std::pair{"/u/train.py", "main"},
                                       {"/x/batchlight/_bridge/_phases.py", "call"},
                                       {"/u/train.py", "step"}}) {
    store.python_frames.Append({.file = store.strings.Intern(file),
                                .function = store.strings.Intern(function),
                                .first_line = 1,
                                .line = 1});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = stack});
    stack = PythonStackId::At(store.python_stacks.size() - 1);
    stacks.push_back(stack);
  }
  for (const size_t at : {1, 2, 2}) {
    store.python_samples.Append({.start_ns = 0,
                                 .end_ns = 10,
                                 .thread = ThreadId::At(0),
                                 .python_stack = stacks[at],
                                 .samples = 1,
                                 .cpu_ns = 10});
  }
  std::map<std::string, std::pair<int64_t, int64_t>> found;
  for (const SampledCode& code : SumSamplesByPythonFunction(store, {})) {
    found[std::string(store.Text(code.function))] = {code.self_ns, code.total_ns};
  }
  using Times = std::map<std::string, std::pair<int64_t, int64_t>>;
  EXPECT_EQ(found, (Times{{"main", {0, 30}}, {"call", {10, 10}}, {"step", {20, 20}}}));
}

TEST(SampledCode, StepsHaveWhatTheirThreadDidInThem) {
  Store store;
  store.python_frames.Append({.file = store.strings.Intern("/u/a.py"),
                              .function = store.strings.Intern("metric"),
                              .first_line = 10,
                              .line = 12});
  store.python_stacks.Append({.frame = PythonFrameId::At(0), .parent = {}});
  const auto sample = [&](size_t thread, int64_t start_ns, int64_t end_ns) {
    store.python_samples.Append({.start_ns = start_ns,
                                 .end_ns = end_ns,
                                 .thread = ThreadId::At(thread),
                                 .python_stack = PythonStackId::At(0),
                                 .samples = 1,
                                 .cpu_ns = 0});
  };
  sample(0, 50, 130);   // 30 of the first steady step
  sample(0, 180, 330);  // 20 of it, and 30 of the second
  sample(1, 100, 400);  // a thread beside
  StepSet steps;
  steps.processes.push_back({.thread = ThreadId::At(0),
                             .steps = {{.start_ns = 0, .end_ns = 100, .kind = StepKind::kWarmUp},
                                       {.start_ns = 100, .end_ns = 200},
                                       {.start_ns = 300, .end_ns = 400}},
                             .steady = {1, 2}});
  const std::vector<SampledCode> functions = SumSamplesByPythonFunction(store, steps);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].self_ns, 80 + 150 + 300);
  EXPECT_EQ(functions[0].steps_self_ns, 80);
  EXPECT_EQ(functions[0].steps_total_ns, 80);
  EXPECT_EQ(CountStepsOnThreads(steps).count, 2u);
  EXPECT_EQ(CountStepsOnThreads(steps).ns, 200);
}

}  // namespace
}  // namespace batchlight
