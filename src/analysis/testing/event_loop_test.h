// A training loop written as a row of events, for tests of what is found in it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

// Each event comes some time after the one before.
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
  void Followed(std::string_view path, std::string_view mode = "") {
    for (int64_t k = 0; k < 3; ++k) {
      build_.Operator(thread_, "aten::addmm", at_ + 5 + 5 * k, at_ + 9 + 5 * k, ++number_);
    }
    Call(path, mode);
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

inline void ExpectNear(const std::vector<TimeSpan>& found, const std::vector<TimeSpan>& expected,
                       double within_ns) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(double(found[i].start_ns), double(expected[i].start_ns), within_ns);
    EXPECT_NEAR(double(found[i].end_ns), double(expected[i].end_ns), within_ns);
  }
}

}  // namespace batchlight::testing
