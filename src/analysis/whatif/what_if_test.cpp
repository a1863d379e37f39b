#include "analysis/whatif/what_if.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

namespace batchlight {
namespace {

constexpr char kColumns[] =
    "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";

void Add(std::string& text, int replica, int stage, const char* work, double start_s,
         double end_s) {
  char line[128];
  const bool computes = std::string(work).find("compute") != std::string::npos;
  std::snprintf(line, sizeof line, "%d,%d,%d,5,%s,%.3f,%.3f,0,%s,0,%d\n", replica, stage,
                stage * 2 + replica, work, start_s, end_s - start_s, computes ? "0" : "-1", stage);
  text += line;
}

// One micro-batch through two stages, whose second computes for `forward_s` and `backward_s`; all
// else takes a second, transfers and optimizers 0.1 s.
void AddReplica(std::string& text, int replica, double forward_s, double backward_s) {
  const double there_s = 1.1, turn_s = there_s + forward_s, back_s = turn_s + backward_s;
  Add(text, replica, 0, "forward-compute", 0, 1);
  Add(text, replica, 0, "forward-send", 1, there_s);
  Add(text, replica, 0, "backward-recv", 1, back_s + 0.1);
  Add(text, replica, 0, "backward-compute", back_s + 0.1, back_s + 1.1);
  Add(text, replica, 0, "gc", back_s + 1.1, back_s + 1.1);
  Add(text, replica, 0, "optimizer", back_s + 1.1, back_s + 1.2);
  Add(text, replica, 1, "forward-recv", 0, there_s);
  Add(text, replica, 1, "forward-compute", there_s, turn_s);
  Add(text, replica, 1, "backward-compute", turn_s, back_s);
  Add(text, replica, 1, "backward-send", back_s, back_s + 0.1);
  Add(text, replica, 1, "gc", back_s, back_s);
  Add(text, replica, 1, "optimizer", back_s, back_s + 0.1);
}

Result<WhatIf> Ask(const std::string& text) {
  ASSIGN_OR_RETURN(const std::vector<PipelineOperation> operations, ReadPipelineTrace(text));
  ASSIGN_OR_RETURN(const PipelineModel model, BuildPipelineModel(operations));
  return AskWhatIf(model);
}

// 1.5 MB that were a table of 6 GB.
TEST(WhatIf, StepsThatDifferTakeNoMemory) {
  std::string text = kColumns;
  const auto add = [&](int step, int sequence) {
    text += "0,0,0," + std::to_string(step) + ",forward-compute,0,1," + std::to_string(sequence) +
            ",0,0,0\n";
  };
  for (int i = 0; i < 200'000; ++i) add(0, i);
  for (int step = 1; step < 200'000; ++step) add(step, 0);
  const Result<WhatIf> asked = Ask(text);
  ASSERT_FALSE(asked.ok());
  EXPECT_NE(asked.status().message().find("give steps that are alike"), std::string::npos);
}

// Stages, replicas and parts of the model multiply.
TEST(WhatIf, SoManyStagesAndReplicas) {
  for (const auto& [fields, name] : {std::pair("0,1024,0,0,gc,0,1,0,0,0,0", "stage is 1024"),
                                     std::pair("4096,0,0,0,gc,0,1,0,0,0,0", "dp_rank is 4096"),
                                     std::pair("0,0,0,0,gc,0,1,0,1024,0,0", "mc is 1024"),
                                     std::pair("0,0,0,0,gc,0,1,0,-2,0,0", "mc is -2")}) {
    const Result<WhatIf> asked = Ask(kColumns + std::string(fields) + "\n");
    ASSERT_FALSE(asked.ok()) << fields;
    EXPECT_NE(asked.status().message().find(name), std::string::npos) << asked.status().message();
  }
}

TEST(WhatIf, TheSlowWorkerAndWhatItCosts) {
  std::string text = kColumns;
  AddReplica(text, 0, 1, 1);
  AddReplica(text, 1, 2, 1.9);
  const Result<WhatIf> asked = Ask(text);
  ASSERT_TRUE(asked.ok()) << asked.status().message();
  const WhatIf& found = asked.value();
  EXPECT_NEAR(found.step_s, 6.2, 1e-6);
  EXPECT_NEAR(found.ideal_s, 2 * 1.25 + 2 * 1.225 + 0.3, 1e-6);  // means of four workers
  EXPECT_EQ(found.healed, 1u);
  ASSERT_EQ(found.workers.size(), 4u);
  EXPECT_EQ(found.workers[0].rank, 3);
  EXPECT_EQ(found.workers[0].replica, 1);
  EXPECT_EQ(found.workers[0].stage, 1);
  EXPECT_NEAR(found.without_workers_s, 1 + 1.25 + 1.225 + 1 + 0.3, 1e-6);
  EXPECT_NEAR(found.share_of_workers(), (6.2 - 4.775) / (6.2 - 5.25), 1e-4);
  EXPECT_GT(found.stages[1].slowdown, found.stages[0].slowdown);
  EXPECT_EQ(found.works[0].name, "forward-compute");
}

TEST(WhatIf, WhatCannotBePlayedIsSaid) {
  const auto problem_of = [](const std::string& text) {
    const Result<WhatIf> asked = Ask(text);
    return asked.ok() ? "" : asked.status().message();
  };
  std::string text = kColumns;
  AddReplica(text, 0, 1, 1);
  EXPECT_EQ(problem_of(text), "");
  EXPECT_NE(problem_of(text + "1,0,1,5,gc,0,0,0,-1,0,0\n").find("not in every step"),
            std::string::npos);
  EXPECT_NE(problem_of(text + "0,0,0,5,magic,0,0,0,0,0,0\n").find("line 14: unknown optype magic"),
            std::string::npos);
  EXPECT_NE(problem_of(text + "0,0,x,5,gc,0,0,0,0,0,0\n").find("line 14: rank is \"x\""),
            std::string::npos);
  EXPECT_NE(problem_of(text + "0,0,0,5,gc,0,1e308,0,0,0,0\n").find("duration is \"1e308\""),
            std::string::npos);
  EXPECT_NE(problem_of(text + "0,0,0,5,gc,-1e10,1,0,0,0,0\n").find("start_ts is \"-1e10\""),
            std::string::npos);
  EXPECT_NE(problem_of(text + "0,999999999,0,5,gc,0,0,0,0,0,0\n").find("stage is 999999999"),
            std::string::npos);
  EXPECT_NE(problem_of("dp_rank,optype\n").find("no column stage"), std::string::npos);
  EXPECT_NE(problem_of(kColumns).find("no operation"), std::string::npos);
}

}  // namespace
}  // namespace batchlight
