// What samples of Python say of the program's own work in a loop, and of its waits.
#include <gtest/gtest.h>

#include "analysis/advice/rules.h"
#include "analysis/testing/findings.h"

namespace batchlight {
namespace {

using testing::FindRule;
using testing::kMs;

// Twenty steps of 10 ms. Between two operators samples find `collect` (train.py:42), with so much
// processor time a step.
std::vector<Finding> FindingsOfSampled(int64_t cpu_ns, int64_t ready_ns = 0,
                                       GilState gil = GilState::kUnknown) {
  testing::StoreBuilder build;
  const ThreadId thread = build.Thread(build.Process(7, "train.py"));
  Store& made = build.store();
  made.python_frames.Append({.file = build.Text("/home/u/train.py"),
                             .function = build.Text("collect"),
                             .first_line = 40,
                             .line = 42});
  made.python_stacks.Append({.frame = PythonFrameId::At(0)});
  for (int64_t t = 0; t < 200 * kMs; t += 10 * kMs) {
    build.Range(thread, "step", t, t + 10 * kMs - 1000);
    build.Operator(thread, "aten::randn", t, t + kMs);
    build.Operator(thread, "aten::mm", t + 8 * kMs, t + 10 * kMs - 2000);
    made.python_samples.Append({.start_ns = t + kMs,
                                .end_ns = t + 7 * kMs,
                                .thread = thread,
                                .python_stack = PythonStackId::At(0),
                                .samples = 1,
                                .cpu_ns = cpu_ns,
                                .ready_ns = ready_ns,
                                .gil = gil});
  }
  const Store store = build.Build();
  return BuildOverview(store).findings;
}

TEST(SampledPython, PythonThatWasSampledHasTheNamesOfItsFunctions) {
  const auto findings = FindingsOfSampled(0);  // not recorded
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`collect` (train.py:42): 70 % of a step is your own Python");
  EXPECT_NE(found->seen.find(", in `collect` (train.py:42)."), std::string::npos) << found->seen;
  EXPECT_EQ(found->action.find("DataLoader"), std::string::npos) << "there is none";
}

// A service that polls for a lock with time.sleep.
TEST(SampledPython, PythonThatSleepsIsSaidToWait) {
  const auto findings = FindingsOfSampled(kMs / 10);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`collect` (train.py:42): the loop waits there for 69 % of a step");
  EXPECT_NE(found->seen.find("runs there in 1.7 % of that"), std::string::npos) << found->seen;
}

// A busy function beside others that are busy, too.
TEST(SampledPython, PythonThatIsKeptFromRunningDoesNotSleep) {
  for (const auto& findings :
       {FindingsOfSampled(kMs, 4 * kMs), FindingsOfSampled(kMs, 0, GilState::kWaits)}) {
    const Finding* found = FindRule(findings, "python-work");
    ASSERT_NE(found, nullptr);
    EXPECT_NE(found->title.find(" of a step is your own Python"), std::string::npos)
        << found->title;
  }
  const auto findings = FindingsOfSampled(kMs / 10, kMs / 2);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->seen.find("and runs there in 1.7 % of that, waits for a processor in 8.3 %, "
                             "sleeps or waits for something else in 90 %."),
            std::string::npos)
      << found->seen;
}

// time.sleep on a busy machine: it ran for 8 %, had no processor for 42 %, and slept for the rest.
TEST(SampledPython, WhoSleepsOnABusyMachineWaits) {
  const auto findings = FindingsOfSampled(kMs / 2, 5 * kMs / 2);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`collect` (train.py:42): the loop waits there for 35 % of a step");
  EXPECT_NE(found->seen.find("For 6.97 ms of a step (70 %) the loop is in `collect`"),
            std::string::npos)
      << found->seen;
  EXPECT_NEAR(found->gain_ns, 0.95 * 7 * kMs * 3.5 / 6, 0.1 * kMs) << "not what others take";
}

// What runs is its own work; what others take of the processor, and short waits, are told apart.
TEST(SampledPython, OwnPythonIsWhatRuns) {
  const auto findings = FindingsOfSampled(3 * kMs, 2 * kMs);
  const Finding* found = FindRule(findings, "python-work");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->title, "`collect` (train.py:42): 35 % of a step is your own Python");
  EXPECT_NE(found->seen.find("runs there in 50 % of that, waits for a processor in 33 %, sleeps or "
                             "waits for something else in 17 %."),
            std::string::npos)
      << found->seen;
}

}  // namespace
}  // namespace batchlight
