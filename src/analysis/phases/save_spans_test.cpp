#include "analysis/phases/save_spans.h"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

using testing::StoreBuilder;

// Iterations of an operator and an update, `silence` apart; one saves.
class Loop {
 public:
  void Iterate(int64_t silence) {
    at_ += silence;
    build_.Operator(thread_, "aten::mm", at_, at_ + 50);
    build_.Phase(thread_, Phase::kOptimizerStep, "SGD.step", at_ + 50, at_ + 60);
    at_ += 60;
  }
  // A file is opened for `before`, written, and flushed for `after`.
  void Save(int64_t before, int64_t took, int64_t after, std::string_view name = "torch.save") {
    at_ += before;
    build_.Phase(thread_, Phase::kCheckpoint, name, at_, at_ + took);
    at_ += took + after;
  }
  int64_t now() const { return at_; }
  StoreBuilder& build() { return build_; }
  ThreadId thread() const { return thread_; }

  std::vector<TimeSpan> Found() {
    const Store store = build_.Build();
    std::vector<TimeSpan> found;
    for (const PhaseMark& mark : PhaseMarks(store).Outermost(thread_, PhaseKind::kCheckpoint)) {
      found.push_back({mark.start_ns, mark.end_ns});
    }
    return found;
  }

 private:
  StoreBuilder build_;
  ThreadId thread_ = build_.Thread(build_.Process(1, "train.py"));
  int64_t at_ = 0;
};

TEST(SaveSpans, OpeningAndFlushingTheFileBelongToTheSave) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.Iterate(0);
  const int64_t start = loop.now();
  loop.Save(100, 200, 300);
  const int64_t end = loop.now();
  for (int i = 0; i < 5; ++i) loop.Iterate(0);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{start, end}}));
}

TEST(SaveSpans, WhatTheLoopDoesAfterEveryUpdateIsNotOfTheFile) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.Iterate(40);
  const int64_t start = loop.now();
  loop.Save(0, 200, 300);
  const int64_t end = loop.now();
  for (int i = 0; i < 5; ++i) loop.Iterate(40);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{start, end}}));
}

TEST(SaveSpans, ALongSilenceIsSomethingElse) {
  Loop loop;
  loop.Iterate(0);
  loop.Save(1000, 100, 1000);
  loop.Iterate(0);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{1060, 1160}}));
}

TEST(SaveSpans, TwoSavesShareNoTime) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.Iterate(0);
  loop.Save(10, 100, 50);
  loop.Save(0, 100, 10);
  for (int i = 0; i < 5; ++i) loop.Iterate(0);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{300, 460}, {460, 570}}));
}

TEST(SaveSpans, ReadingACheckpointStaysAsItIs) {
  Loop loop;
  loop.Iterate(0);
  loop.Save(50, 100, 50, "torch.load");
  loop.Iterate(0);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{110, 210}}));
}

TEST(SaveSpans, TheBeginAndEndOfARangeSayNothingOfTheFile) {
  Loop loop;
  loop.Iterate(0);
  loop.build().Range(loop.thread(), "write", 100, 300);
  loop.Save(60, 100, 180);  // from 120 to 220
  loop.Iterate(0);
  EXPECT_EQ(loop.Found(), (std::vector<TimeSpan>{{120, 220}}));
}

// What lies between two saves is silent here, but a call begins in it.
TEST(SaveSpans, ASaveInsideOfACallDoesNotReachToTheOneBefore) {
  Loop loop;
  loop.Iterate(0);
  loop.Save(10, 100, 70);
  loop.build().Range(loop.thread(), "step", 250, 500);
  loop.Save(20, 100, 180);  // from 260
  loop.Iterate(0);
  const std::vector<TimeSpan> found = loop.Found();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1], (TimeSpan{260, 360}));
}

}  // namespace
}  // namespace batchlight
