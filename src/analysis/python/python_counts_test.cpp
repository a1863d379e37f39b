#include <gtest/gtest.h>

#include "analysis/python/function_counts.h"
#include "analysis/python/line_counts.h"

namespace batchlight {
namespace {

Store TwoThreads() {
  Store store;
  const StringId file = store.strings.Intern("/w/train.py");
  const StringId fib = store.strings.Intern("Net.fib");
  const StringId main = store.strings.Intern("main");
  auto& functions = store.python_functions;
  functions.Append({.file = file,
                    .name = main,
                    .first_line = 3,
                    .calls = 1,
                    .primitive_calls = 1,
                    .self_ns = 5,
                    .total_ns = 100});
  functions.Append({.file = file,
                    .name = fib,
                    .first_line = 9,
                    .calls = 7,
                    .primitive_calls = 2,
                    .self_ns = 60,
                    .total_ns = 90});
  functions.Append({.file = file,
                    .name = fib,
                    .first_line = 9,
                    .thinned = YesNo::kYes,
                    .calls = 3,
                    .primitive_calls = 3,
                    .resumptions = 1,
                    .self_ns = 30,
                    .total_ns = 30});
  functions.Append(
      {.file = file, .name = main, .first_line = 3, .lines_only = YesNo::kYes, .calls = 99});
  store.python_callers.Append({.function = PythonFunctionId::At(1),
                               .caller = PythonFunctionId::At(0),
                               .calls = 2,
                               .primitive_calls = 2,
                               .self_ns = 20,
                               .total_ns = 90});
  store.python_callers.Append({.function = PythonFunctionId::At(2), .calls = 3});
  store.python_lines.Append(
      {.function = PythonFunctionId::At(3), .line = 5, .hits = 4, .time_ns = 40});
  store.python_lines.Append(
      {.function = PythonFunctionId::At(3), .line = 7, .hits = 1, .time_ns = 2});
  store.python_lines.Append(
      {.function = PythonFunctionId::At(0), .line = 5, .hits = 1, .time_ns = 1});
  store.python_sources.Append({.file = file,
                               .name = main,
                               .first_line = 3,
                               .text = store.strings.Intern("def main():\r\n\n  fib()\n")});
  return store;
}

TEST(PythonCounts, FunctionsOfAllThreadsAddUp) {
  const Store store = TwoThreads();
  const auto functions = CountPythonFunctions(store);
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(store.Text(functions[0].name), "Net.fib");
  EXPECT_EQ(functions[0].counts.calls, 10u);
  EXPECT_EQ(functions[0].counts.primitive_calls, 5u);
  EXPECT_EQ(functions[0].counts.self_ns, 90);
  EXPECT_EQ(functions[0].counts.total_ns, 120);
  EXPECT_EQ(functions[0].resumptions, 1u);
  EXPECT_TRUE(functions[0].thinned);
  ASSERT_EQ(functions[0].callers.size(), 1u);
  EXPECT_EQ(functions[0].callers[0].caller, 1u);
  EXPECT_EQ(functions[0].callers[0].counts.calls, 2u);
  EXPECT_EQ(functions[1].counts.calls, 1u);  // not those of lines alone
  EXPECT_FALSE(functions[1].thinned);
}

TEST(PythonCounts, LinesStandInTheirSource) {
  const Store store = TwoThreads();
  const auto functions = CountPythonLines(store);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].total_ns, 43);
  ASSERT_EQ(functions[0].lines.size(), 4u);
  EXPECT_EQ(functions[0].lines[0].text, "def main():");
  EXPECT_EQ(functions[0].lines[1].text, "");
  EXPECT_EQ(functions[0].lines[2].hits, 5u);
  EXPECT_EQ(functions[0].lines[2].text, "  fib()");
  EXPECT_EQ(functions[0].lines[3].line, 7u);  // beyond the source that was found
}

TEST(PythonCounts, LabelsAreThoseOfPstats) {
  EXPECT_EQ(BareName("a.py", "Net.<locals>.step"), "step");
  EXPECT_EQ(BareName("a.py", "<module>"), "<module>");
  EXPECT_EQ(BareName("~", "<built-in method math.sqrt>"), "<built-in method math.sqrt>");
  EXPECT_EQ(PythonLabel("a.py", 3, "f"), "a.py:3(f)");
  EXPECT_EQ(PythonLabel("~", 0, "built-in method builtins.len"), "{built-in method builtins.len}");
}

}  // namespace
}  // namespace batchlight
