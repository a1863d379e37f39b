#include "report/text/run_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(RunTextTest, TitleIsTheScript) {
  SessionInfo session;
  session.command = "/usr/bin/python3 -u examples/train.py --epochs 2";
  EXPECT_EQ(RunTitle(session), "train.py");
  session.command = "./build/train --fast";
  EXPECT_EQ(RunTitle(session), "train");
  session.command = "";
  session.source = "runs/a.batchlight";
  EXPECT_EQ(RunTitle(session), "a.batchlight");
}

TEST(RunTextTest, MachineLineNamesWhatNumbersDependOn) {
  SessionInfo session;
  session.machine = {{"Host", "secret"},
                     {"CPU", "AMD EPYC"},
                     {"Processors", "2"},
                     {"System", "Debian"},
                     {"Memory", "24 GiB"}};
  session.software = {{"Python", "3.11"}, {"PyTorch", "1.13"}};
  EXPECT_EQ(MachineLine(session), "AMD EPYC, 2 processors, 24 GiB memory, PyTorch 1.13");
  EXPECT_EQ(MachineLine({}), "");
}

TEST(RunTextTest, SentencesAreSentences) {
  RunOverview overview;
  StepSet& steps = overview.steps;
  steps.how = "no steps: nothing repeats";
  EXPECT_EQ(StepsFoundSentence(steps), "No steps: nothing repeats.");
  EXPECT_EQ(StepSentence(overview), "No steps: nothing repeats.");
  steps.how = "from the NVTX range \"step\"";
  steps.processes.resize(1);
  steps.processes[0].duration = {
      .count = 1234, .p5 = 1'000'000, .median = 2'000'000, .p95 = 3'500'000, .mean = 2'500'000};
  EXPECT_EQ(StepsFoundSentence(steps), "Steps are taken from the NVTX range \"step\".");
  EXPECT_EQ(
      StepSentence(overview),
      "A step takes 2.00 ms (median of 1,234 steps; nine of ten between 1.00 ms and 3.50 ms): "
      "500 steps/s. The mean is 2.50 ms: 400 steps/s.");
  steps.processes[0].duration.mean = 2'100'000;
  EXPECT_EQ(
      StepSentence(overview),
      "A step takes 2.00 ms (median of 1,234 steps; nine of ten between 1.00 ms and 3.50 ms): "
      "500 steps/s. The mean is 2.10 ms.");
}

}  // namespace
}  // namespace batchlight
