#include "analysis/phases/evaluations.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/testing/event_loop_test.h"

namespace batchlight {
namespace {

using testing::ExpectNear;
using testing::Loop;

TEST(Validation, IsAStretchWithItsLoading) {
  Loop loop;
  std::vector<TimeSpan> expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    loop.TrainMode();
    for (int i = 0; i < 5; ++i) loop.Train();
    const int64_t start = loop.now();
    loop.Eval();
    loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
    for (int i = 0; i < 4; ++i) {
      loop.Do(Phase::kDataLoaderNext, "next");
      loop.Call("Net", "eval, no_grad");
    }
    loop.Do(Phase::kDataLoaderNext, "next");
    expected.push_back({start, loop.now() - 2});
  }
  EXPECT_EQ(loop.Found(), expected);
}

TEST(Validation, BeforeTheFirstStepAndWithoutALoader) {
  Loop loop;
  std::vector<TimeSpan> expected;
  for (int i = 0; i < 12; ++i) {
    if (i % 4 == 0) {
      const int64_t start = loop.now();
      loop.Eval();
      for (int k = 0; k < 3; ++k) loop.Call("Net", "eval, no_grad");
      expected.push_back({start, loop.now()});  // as far as between two calls
      loop.TrainMode();
    }
    loop.Train();
  }
  EXPECT_EQ(loop.Found(), expected);
}

// The last batch that the training asks for is none: its loader ends, and stops its workers.
TEST(Validation, BeginsBehindTheEndOfTheTrainingsLoader) {
  Loop loop;
  std::vector<TimeSpan> expected;
  for (int epoch = 0; epoch < 3; ++epoch) {
    loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
    for (int i = 0; i < 5; ++i) {
      loop.Do(Phase::kDataLoaderNext, "next");
      loop.Train();
    }
    loop.Do(Phase::kDataLoaderNext, "next", 2000);
    const int64_t start = loop.now() - 2;
    for (int i = 0; i < 3; ++i) loop.Call("Net", "no_grad");
    expected.push_back({start, loop.now()});
  }
  EXPECT_EQ(loop.Found(), expected);
}

// Of batches that were made before, in the middle of an epoch: before one is trained, or behind it.
TEST(Validation, HasNoBatchOfTheTraining) {
  for (const bool before : {true, false}) {
    Loop loop;
    std::vector<TimeSpan> expected;
    const auto validate = [&](int i) {
      if (i % 5 != 0) return;
      const int64_t start = loop.now() - 2;
      for (int k = 0; k < 3; ++k) loop.Call("Net", "eval, no_grad");
      expected.push_back({start, loop.now()});
    };
    loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
    for (int i = 0; i < 20; ++i) {
      loop.Do(Phase::kDataLoaderNext, "next");
      if (before) validate(i);
      loop.Train();
      if (!before) validate(i);
    }
    loop.Do(Phase::kDataLoaderNext, "next");
    EXPECT_EQ(loop.Found(), expected) << before;
  }
}

TEST(Validation, HasTheBatchesOfAnIteratorThatWasMadeBefore) {
  Loop loop;
  std::vector<TimeSpan> expected;
  loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
  loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
  for (int i = 0; i < 20; ++i) {
    loop.Do(Phase::kDataLoaderNext, "next");
    loop.Train();
    if (i % 5 != 4 || i == 19) continue;
    const int64_t start = loop.now();
    for (int k = 0; k < 3; ++k) {
      loop.Load();
      loop.Call("Net", "no_grad");
    }
    expected.push_back({start, loop.now()});
  }
  std::vector<TimeSpan> found = loop.Found();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].start_ns, expected[i].start_ns);
    EXPECT_EQ(found[i].end_ns, expected[i].end_ns);
  }
}

// DistributedDataParallel(model) learns; the model itself is called for a probe after each step.
// A method of the model that is not its forward: topk, a mask and gather behind the last module.
TEST(Validation, LastsToTheOperatorsOfItsMetric) {
  for (const bool to_train : {true, false}) {
    Loop loop;
    std::vector<TimeSpan> expected;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (int i = 0; i < 5; ++i) loop.Train();
      const int64_t start = loop.now();
      loop.Eval();
      loop.Call("Net", "eval, no_grad");
      const int64_t called = loop.now() - 2;
      for (const char* name : {"aten::topk", "aten::zeros", "aten::gather"})
        loop.Operate(name, 400'000);
      const int64_t measured = loop.now() - 1'000'000;
      loop.Pause(20'000'000);
      loop.Operate("aten::randperm", 10);  // of the next epoch
      if (to_train) loop.TrainMode();
      expected.push_back({start, to_train ? measured : called});
    }
    EXPECT_EQ(loop.Found(), expected) << to_train;
  }
}

TEST(Validation, OfTheModelInsideOfAWrapper) {
  Loop loop;
  for (int i = 0; i < 8; ++i) {
    loop.Wrapped("DistributedDataParallel", "Net");
    loop.Backward();
    loop.Update();
    loop.Eval();
    loop.Call("Net", "eval, no_grad");
    loop.TrainMode();
  }
  EXPECT_EQ(loop.Found().size(), 8u);
}

TEST(Validation, WithGradientsOnIsToldByTheModeAlone) {
  Loop loop;
  for (int epoch = 0; epoch < 2; ++epoch) {
    loop.TrainMode();
    for (int i = 0; i < 4; ++i) loop.Train();
    loop.Eval();
    for (int i = 0; i < 3; ++i) loop.Call("Net", "eval");
  }
  EXPECT_EQ(loop.Found().size(), 2u);
}

// Neither eval() nor no_grad(): no backward comes back to what it computes. The loop calls one
// model or its parts in turn, an encoder and its decoder.
TEST(Validation, IsARowOfForwardsThatNothingLearnsFrom) {
  for (const std::vector<std::string_view>& parts :
       {std::vector<std::string_view>{"Net"}, {"Encoder", "Decoder"}}) {
    Loop loop;
    std::vector<TimeSpan> expected;
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (int i = 0; i < 9; ++i) loop.Learn(parts);
      const int64_t start = loop.now();
      for (int i = 0; i < 6; ++i) {
        for (const std::string_view part : parts) loop.Followed(part);
      }
      expected.push_back({start, loop.now() - 2});
    }
    ExpectNear(loop.Found(), expected, 3);
  }
  Loop targets;  // several modules, each once, now and then
  for (int i = 0; i < 40; ++i) {
    if (i % 8 == 7) targets.Followed("Actor"), targets.Followed("Target");
    targets.Learn("Critic");
  }
  EXPECT_TRUE(targets.Found().empty());
}

// Whose loss is a module of its own, in train mode as all are that nobody told otherwise.
TEST(Validation, WithGradientsOnAndALossInTrainMode) {
  Loop loop;
  std::vector<TimeSpan> expected;
  for (int round = 0; round < 3; ++round) {
    loop.TrainMode();
    for (int i = 0; i < 5; ++i) loop.Learn(std::vector<std::string_view>{"Net", "NLLLoss"});
    const int64_t start = loop.now();
    for (int client = 0; client < 3; ++client) {
      loop.Eval();
      loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
      for (int batch = 0; batch < 3; ++batch) {
        loop.Load();
        loop.Followed("Net", "eval");
        loop.Followed("NLLLoss");
      }
    }
    expected.push_back({start, loop.now()});
  }
  ExpectNear(loop.Found(), expected, 20);
}

TEST(Validation, IsNoForwardsThatAreLearnedFromOrMayBe) {
  Loop together;  // the backward of an episode comes back to all of its calls
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 5; ++k) together.Learn("Policy");
    for (int k = 0; k < 9; ++k) together.Call("Policy");
    together.Learn("Policy");
  }
  EXPECT_TRUE(together.Found().empty()) << "calls without operators say nothing";
  Loop warm_up;  // of a state, before what is learned from, in each iteration
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 9; ++k) warm_up.Followed("Cell");
    warm_up.Learn("Cell");
  }
  EXPECT_TRUE(warm_up.Found().empty());
  EXPECT_TRUE(warm_up.Found(PhaseKind::kRollout).empty());
  EXPECT_TRUE(warm_up.Found(PhaseKind::kRollout, true).empty());
  Loop acts;  // for what it learns from later
  for (int i = 0; i < 12; ++i) {
    acts.Followed("Q");
    acts.Learn("Q");
  }
  EXPECT_TRUE(acts.Found().empty());
  Loop collects;  // an episode, before all updates that learn from it
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 20; ++k) collects.Followed("Policy");
    for (int k = 0; k < 8; ++k) collects.Learn("Policy");
  }
  EXPECT_TRUE(collects.Found().empty());
  EXPECT_TRUE(collects.Found(PhaseKind::kRollout).empty()) << "or whatever else it is for";
}

// A loop that acts once in each iteration, with gradients on or off, and plays whole episodes now
// and then.
TEST(Validation, IsARowOfCallsInALoopThatCallsOnceInEachIteration) {
  for (const bool no_grad : {false, true}) {
    for (const bool at_end : {false, true}) {
      Loop loop;
      const auto act = [&] { no_grad ? loop.Call("Q", "no_grad") : loop.Followed("Q"); };
      for (int k = 0; k < 40; ++k) act();
      std::vector<TimeSpan> played;
      for (int i = 1; i <= 40; ++i) {
        act();
        if (no_grad) loop.Call("Target", "no_grad");
        loop.Learn("Q");
        if (i % 10 != 0 || (i == 40 && !at_end)) continue;
        const int64_t start_ns = loop.now();
        for (int k = 0; k < 50; ++k) act();
        played.push_back({start_ns, loop.now()});
      }
      const std::vector<TimeSpan> found = loop.Found();
      EXPECT_TRUE(loop.Found(PhaseKind::kRollout).empty());
      if (at_end) {
        ExpectNear(found, played, 40);
      } else {  // all of them are before updates: they may be what these learn from
        EXPECT_TRUE(found.empty());
      }
    }
  }
}

TEST(Validation, IsNoTrainingInEvalMode) {
  Loop loop;
  loop.Eval();
  for (int i = 0; i < 10; ++i) {
    loop.Call("Net", "eval");
    loop.Backward();
    loop.Update();
  }
  EXPECT_TRUE(loop.Found().empty());
}

TEST(Validation, AfterEveryStepOfAFullBatch) {
  Loop loop;
  for (int i = 0; i < 10; ++i) {
    loop.TrainMode();
    loop.Train();
    loop.Eval();
    loop.Call("Net", "eval, no_grad");
  }
  EXPECT_EQ(loop.Found().size(), 10u);
}

// The loss is a module that nobody switches to eval mode.
TEST(Validation, WithALossOfItsOwn) {
  Loop loop;
  for (int i = 0; i < 10; ++i) {
    loop.TrainMode();
    loop.Train();
    for (int set = 0; set < 2; ++set) {
      loop.Eval();
      loop.Call("Net", "eval, no_grad");
      loop.Call("Loss", "no_grad", 1);
    }
  }
  EXPECT_EQ(loop.Found().size(), 10u);
}

TEST(Validation, IsNoGeneratorWithoutGradients) {
  for (const int critics : {1, 5}) {
    Loop loop;
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < critics; ++k) {
        loop.Call("G", "no_grad");
        loop.Call("D");
        loop.Call("D");
        loop.Backward();
        loop.Update("Adam.step");
      }
      loop.Call("G");
      loop.Call("D");
      loop.Backward();
      loop.Update("Adam.step");
    }
    EXPECT_TRUE(loop.Found().empty()) << critics;
  }
}

TEST(Validation, IsNoTeacherTargetNetworkOrRollout) {
  Loop teacher;
  for (int i = 0; i < 8; ++i) {
    teacher.Call("Teacher", "eval, no_grad");
    teacher.Train();
  }
  EXPECT_TRUE(teacher.Found().empty());
  Loop target;  // DQN: acts, then learns from a target
  for (int i = 0; i < 8; ++i) {
    target.Call("Q", "no_grad");
    target.Call("Target", "no_grad");
    target.Train("Q");
  }
  EXPECT_TRUE(target.Found().empty());
  Loop rollouts;  // PPO: many steps in the environment, then some updates
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 20; ++k) rollouts.Call("Policy", "no_grad");
    for (int k = 0; k < 8; ++k) rollouts.Train("Policy");
  }
  EXPECT_TRUE(rollouts.Found().empty());
  EXPECT_EQ(rollouts.Found(PhaseKind::kRollout).size(), 4u);
  EXPECT_TRUE(rollouts.Found(PhaseKind::kRollout, true).empty());
  Loop labels;  // pseudo labels by the model itself, in eval mode
  for (int i = 0; i < 8; ++i) {
    labels.Eval();
    labels.Call("Net", "eval, no_grad");
    labels.TrainMode();
    labels.Train();
  }
  EXPECT_TRUE(labels.Found().empty());
}

TEST(Rollout, IsPartOfTheIterationWhereEveryUpdateHasOne) {
  Loop loop;  // A2C
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 10; ++k) loop.Call("Policy", "no_grad");
    loop.Train("Policy");
  }
  EXPECT_EQ(loop.Found(PhaseKind::kRollout, true).size(), 6u);
  EXPECT_TRUE(loop.Found(PhaseKind::kRollout).empty());
}

// Greedy episodes with gradients on, behind the updates and before the next samples.
TEST(Rollout, StandsBehindAnEvaluationThatCallsThePolicyOtherwise) {
  Loop loop;
  std::vector<TimeSpan> rollouts, validations;
  for (int round = 0; round < 4; ++round) {
    const int64_t start = loop.now();
    for (int i = 0; i < 12; ++i) loop.Call("actor", "no_grad");
    rollouts.push_back({start, loop.now()});
    for (int i = 0; i < 5; ++i) loop.Learn("actor");
    const int64_t played = loop.now();
    for (int i = 0; i < 12; ++i) loop.Followed("actor");
    validations.push_back({played, loop.now()});
  }
  ExpectNear(loop.Found(PhaseKind::kRollout), rollouts, 20);
  ExpectNear(loop.Found(PhaseKind::kValidation), validations, 20);
}

TEST(Rollout, OfSamplesThatAPolicyInEvalModeMakes) {
  Loop loop;
  for (int i = 0; i < 4; ++i) {
    loop.Eval();
    for (int k = 0; k < 20; ++k) loop.Call("Policy", "eval, no_grad");
    loop.TrainMode();
    for (int k = 0; k < 8; ++k) loop.Train("Policy");
  }
  EXPECT_EQ(loop.Found(PhaseKind::kRollout).size(), 4u);
  EXPECT_TRUE(loop.Found().empty());
}

// A loss before the first update and then before every tenth, of batches without a DataLoader.
TEST(Validation, BeforeTheUpdatesComputesALoss) {
  Loop loop;
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 0) {
      loop.Eval();
      for (int k = 0; k < 20; ++k) {
        loop.Call("Net", "eval, no_grad");
        loop.Loss();
      }
      loop.TrainMode();
    }
    loop.Train();
  }
  EXPECT_EQ(loop.Found().size(), 4u);
  EXPECT_TRUE(loop.Found(PhaseKind::kRollout).empty());
}

TEST(Rollout, IsNoLookOfTheModelAtItsOwnOutput) {
  Loop loop;  // recycling: the same model, three times without gradients, in every iteration
  for (int i = 0; i < 8; ++i) {
    for (int k = 0; k < 3; ++k) loop.Call("Net", "no_grad");
    loop.Train();
  }
  EXPECT_TRUE(loop.Found(PhaseKind::kRollout, true).empty());
}

TEST(Validation, IsNoSingleLookAtTheModel) {
  Loop loop;
  for (int i = 0; i < 20; ++i) {
    loop.Train();
    if (i % 10 == 9) loop.Call("Net", "no_grad", 200);
  }
  EXPECT_TRUE(loop.Found().empty());
}

// Of all samples at once, by whoever forgets model.eval().
TEST(Validation, IsASingleCallWhoseErrorIsRead) {
  Loop loop;
  std::vector<TimeSpan> expected;
  for (int i = 0; i < 30; ++i) {
    loop.Train();
    loop.Read("aten::clone");  // the loss of before
    if (i % 10 != 9) continue;
    const int64_t start_ns = loop.now();
    loop.Call("Net", "no_grad");
    loop.Read("aten::mean");
    expected.push_back({start_ns, loop.now() - 4});
  }
  EXPECT_EQ(loop.Found(), expected);
  Loop pictures;
  for (int i = 0; i < 30; ++i) {
    pictures.Train();
    if (i % 10 != 9) continue;
    pictures.Call("Net", "no_grad");
    pictures.Read("aten::clamp");
  }
  EXPECT_TRUE(pictures.Found().empty());
  Loop counts;  // its forward reads how many are masked
  for (int i = 0; i < 30; ++i) {
    counts.Train();
    if (i % 10 == 9) counts.Call("Net", "no_grad", 30, "aten::sum");
  }
  EXPECT_TRUE(counts.Found().empty());
}

TEST(Validation, IsNotWhatAProgramDoesThatOnlyInfers) {
  Loop loop;
  loop.Eval();
  for (int i = 0; i < 20; ++i) loop.Call("Net", "eval, no_grad");
  EXPECT_TRUE(loop.Found().empty());
}

TEST(Validation, OfSeveralModelsOneAfterTheOther) {
  Loop loop;
  for (const char* path : {"Net", "Net#2", "Net#3"}) {
    for (int i = 0; i < 6; ++i) loop.Train(path);
    loop.Eval();
    for (int i = 0; i < 3; ++i) loop.Call(path, "eval, no_grad");
  }
  EXPECT_EQ(loop.Found().size(), 3u);
}

// Lightning, LBFGS: the optimizer's step calls forward and backward.
TEST(Validation, WithClosures) {
  Loop loop;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int i = 0; i < 5; ++i) loop.Closure();
    loop.Eval();
    loop.Do(Phase::kDataLoaderInit, "DataLoader.__iter__");
    for (int i = 0; i < 3; ++i) loop.Call("Net", "eval, no_grad");
    loop.TrainMode();
  }
  EXPECT_EQ(loop.Found().size(), 4u);
}

// Recordings of older versions do not know modes.
TEST(Validation, WithoutModesIsWhatAnIterationHasNotUsually) {
  Loop loop(false);
  for (int i = 0; i < 12; ++i) {
    loop.Train();
    if (i % 4 == 3) {
      for (int k = 0; k < 6; ++k) {
        loop.Do(Phase::kDataLoaderNext, "next");
        loop.Call("Net");
      }
    }
  }
  EXPECT_EQ(loop.Found().size(), 3u);
  Loop accumulation(false);
  for (int i = 0; i < 12; ++i) {
    for (int k = 0; k < 4; ++k) {
      accumulation.Call("Net");
      accumulation.Backward();
    }
    accumulation.Update();
  }
  EXPECT_TRUE(accumulation.Found().empty());
}

}  // namespace
}  // namespace batchlight
