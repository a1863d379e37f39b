#include "analysis/phases/evaluations.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

// A loop written as a row of events, each some time after the one before.
class Loop {
 public:
  explicit Loop(bool modes_known = true) : thread_(build_.Thread(build_.Process(1, "train.py"))) {
    if (modes_known) build_.Phase(thread_, Phase::kPythonStart, "python start", 0, 0);
  }

  // A call of a module; `mode` as recorded: "", "no_grad", "eval", "eval, no_grad".
  // `reads`: an operator inside of it, of which Python reads a number.
  void Call(std::string_view path, std::string_view mode = "", int64_t ns = 30,
            std::string_view reads = "") {
    build_.Module(thread_, path, "Net", at_, at_ + ns);
    if (!reads.empty()) {
      build_.Operator(thread_, reads, at_ + 5, at_ + 8);
      build_.Operator(thread_, "aten::item", at_ + 9, at_ + 10);
    }
    if (!mode.empty()) {
      build_.Phase(thread_, Phase::kEvaluationCall, mode, at_ + 1, at_ + ns - 1);
    }
    at_ += ns + 2;
  }
  // A call with gradients on, whose operators have numbers of autograd.
  void Followed(std::string_view path) {
    for (int64_t k = 0; k < 3; ++k) {
      build_.Operator(thread_, "aten::addmm", at_ + 5 + 5 * k, at_ + 9 + 5 * k, ++number_);
    }
    Call(path);
  }
  // What the last call returned is learned from.
  void Learn(std::string_view path) { Learn(std::vector<std::string_view>{path}); }
  // Likewise of calls in turn, each of which takes what the one before it returned.
  void Learn(const std::vector<std::string_view>& paths) {
    for (const std::string_view path : paths) Followed(path);
    const int64_t nodes = 3 * static_cast<int64_t>(paths.size());
    for (int64_t k = 0; k < nodes; ++k) {
      build_.Operator(thread_, "AddmmBackward0", at_ + 5 * k, at_ + 4 + 5 * k, number_ - k, 1,
                      OperatorScope::kBackward);
    }
    Backward();
    Update();
  }
  void Wrapped(std::string_view wrapper, std::string_view path) {
    build_.Module(thread_, wrapper, "DistributedDataParallel", at_, at_ + 40);
    build_.Module(thread_, path, "Net", at_ + 5, at_ + 35);
    at_ += 42;
  }
  void Loss() { build_.Operator(thread_, "aten::cross_entropy_loss", at_ - 4, at_ - 3); }
  // A number that Python reads behind an operator.
  void Read(std::string_view behind) {
    build_.Operator(thread_, behind, at_, at_ + 5);
    build_.Operator(thread_, "aten::sum", at_ + 1, at_ + 2);
    build_.Operator(thread_, "aten::div_", at_ + 3, at_ + 4);
    build_.Operator(thread_, "aten::item", at_ + 6, at_ + 8);
    at_ += 10;
  }
  // An operator, and a millisecond until the next thing.
  void Operate(std::string_view name, int64_t ns) {
    build_.Operator(thread_, name, at_, at_ + ns);
    at_ += ns + 1'000'000;
  }
  void Pause(int64_t ns) { at_ += ns; }
  void Do(Phase phase, std::string_view name, int64_t ns = 10) {
    build_.Phase(thread_, phase, name, at_, at_ + ns);
    at_ += ns + 2;
  }
  // With a range around it, as Lightning has.
  void Load() {
    build_.Phase(thread_, Phase::kDataLoaderNext, "next", at_, at_ + 10);
    build_.Phase(thread_, Phase::kDataLoaderNext, "next", at_ + 1, at_ + 9);
    at_ += 12;
  }
  void Backward() { Do(Phase::kBackward, "backward", 40); }
  void Update(std::string_view name = "SGD.step") { Do(Phase::kOptimizerStep, name); }
  void Train(std::string_view path = "Net") {
    Call(path);
    Backward();
    Update();
  }
  void Closure() {
    build_.Phase(thread_, Phase::kOptimizerStep, "Adam.step", at_, at_ + 100);
    build_.Module(thread_, "Net", "Net", at_ + 10, at_ + 40);
    build_.Phase(thread_, Phase::kBackward, "backward", at_ + 50, at_ + 80);
    at_ += 102;
  }
  void Eval() { Do(Phase::kEvalMode, "Module.eval", 1); }
  void TrainMode() { Do(Phase::kTrainMode, "Module.train", 1); }
  int64_t now() const { return at_; }

  std::vector<TimeSpan> Found(PhaseKind kind = PhaseKind::kValidation, bool of_step = false) {
    if (store_.threads.size() == 0) store_ = build_.Build();
    const PhaseMarks marks(store_);
    std::vector<TimeSpan> found;
    for (const PhaseMark& mark : marks.all()) {
      if (mark.kind != kind || mark.of_step != of_step) continue;
      EXPECT_TRUE(mark.implied);
      found.push_back({mark.start_ns, mark.end_ns});
    }
    return found;
  }

 private:
  StoreBuilder build_;
  Store store_;  // what was found in
  ThreadId thread_;
  int64_t at_ = 100;
  int64_t number_ = 0;  // of autograd
};

void ExpectNear(const std::vector<TimeSpan>& found, const std::vector<TimeSpan>& expected,
                double within_ns) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(double(found[i].start_ns), double(expected[i].start_ns), within_ns);
    EXPECT_NEAR(double(found[i].end_ns), double(expected[i].end_ns), within_ns);
  }
}

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
