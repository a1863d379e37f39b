#include "ingest/common/late_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

class LateTimesTest : public ::testing::Test {
 protected:
  // Ten long, right behind the one before.
  void Look(int64_t cpu_ns, int64_t ready_ns, GilState gil = GilState::kUnknown,
            int64_t pause_ns = 0, size_t thread = 0) {
    at_ns_ += pause_ns;
    store_.python_samples.Append({.start_ns = at_ns_,
                                  .end_ns = at_ns_ + 10,
                                  .thread = ThreadId::At(thread),
                                  .samples = 1,
                                  .cpu_ns = cpu_ns,
                                  .ready_ns = ready_ns,
                                  .gil = gil});
    at_ns_ += 10;
  }

  Store store_;
  int64_t at_ns_ = 0;
};

using Times = std::vector<int64_t>;

TEST_F(LateTimesTest, AWaitForAProcessorLiesBeforeItsEnd) {
  Look(10, 0);
  Look(2, 0);
  Look(0, 0);
  Look(4, 22);  // got one: what it waited for it lies in three looks
  Look(10, 0);
  MoveLateTimes(store_);
  EXPECT_EQ(store_.python_samples.ready_ns, (Times{0, 6, 10, 6, 0}));
  EXPECT_EQ(store_.python_samples.cpu_ns, (Times{10, 2, 0, 4, 10}));
}

TEST_F(LateTimesTest, WhatIsNotSeenOrAnotherThreadsIsNotTheTimeBefore) {
  Look(3, 0);
  Look(0, 15, GilState::kUnknown, 1);
  Look(0, 15, GilState::kUnknown, 0, 1);
  MoveLateTimes(store_);
  EXPECT_EQ(store_.python_samples.ready_ns, (Times{0, 15, 15}));
}

TEST_F(LateTimesTest, ProcessorTimeThatIsToldLateIsOfTheLooksBefore) {
  Look(0, 0);
  Look(0, 0);
  Look(16, 9);
  MoveLateTimes(store_);
  EXPECT_EQ(store_.python_samples.cpu_ns, (Times{0, 6, 10}));
  EXPECT_EQ(store_.python_samples.ready_ns, (Times{5, 4, 0}));
}

// Two threads fight for the GIL: of half of the time of each look the other one had it.
TEST_F(LateTimesTest, WhoHasTheGilMayHaveWaitedForItBefore) {
  Look(5, 0, GilState::kHolds);
  Look(4, 1, GilState::kWaits);
  Look(5, 1, GilState::kHolds);
  Look(5, 0, GilState::kUnknown);
  Look(0, 0, GilState::kUnknown);  // sleeps, for nobody waits and it runs not
  Look(5, 0, GilState::kHolds);
  Look(5, 0, GilState::kWaits);
  Look(0, 0, GilState::kApart);
  Look(5, 0, GilState::kHolds);
  MoveLateTimes(store_);
  EXPECT_EQ(store_.python_samples.gil_ns, (Times{0, 0, 4, 5, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace batchlight
