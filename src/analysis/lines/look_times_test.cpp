#include "analysis/lines/look_times.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

PythonSamplesTable Record(int64_t cpu_ns, int64_t ready_ns, GilState gil) {
  PythonSamplesTable samples;
  samples.Append(
      {.start_ns = 100, .end_ns = 200, .cpu_ns = cpu_ns, .ready_ns = ready_ns, .gil = gil});
  return samples;
}

TEST(LookTimes, ABusyThreadWithoutProcessorDoesNotSleep) {
  const LookTimes times = TimesOfLooks(Record(40, 50, GilState::kUnknown), 0);
  EXPECT_EQ(times, (LookTimes{.ran_ns = 40, .ready_ns = 50, .gil_ns = 0, .waited_ns = 10}));
  EXPECT_EQ(times.awake_ns(), 90);
  EXPECT_EQ(times.ns(), 100);
}

TEST(LookTimes, OneThatWaitsForTheGilDoesNotSleep) {
  EXPECT_EQ(TimesOfLooks(Record(10, 20, GilState::kWaits), 0),
            (LookTimes{.ran_ns = 10, .ready_ns = 20, .gil_ns = 70, .waited_ns = 0}));
  PythonSamplesTable before = Record(10, 20, GilState::kHolds);
  before.gil_ns[0] = 30;
  EXPECT_EQ(TimesOfLooks(before, 0),
            (LookTimes{.ran_ns = 10, .ready_ns = 20, .gil_ns = 30, .waited_ns = 40}));
  EXPECT_EQ(TimesOfLooks(Record(10, 0, GilState::kHolds), 0),
            (LookTimes{.ran_ns = 10, .ready_ns = 0, .gil_ns = 0, .waited_ns = 90}));
}

// Clocks of the kernel tell a processor's time when the thread leaves it, and its wait for one when
// that ends: a record may have more than its time.
TEST(LookTimes, PartsAddUpToTheTime) {
  EXPECT_EQ(TimesOfLooks(Record(130, 50, GilState::kUnknown), 0),
            (LookTimes{.ran_ns = 100, .ready_ns = 0, .gil_ns = 0, .waited_ns = 0}));
  EXPECT_EQ(TimesOfLooks(Record(40, 130, GilState::kWaits), 0, 50),
            (LookTimes{.ran_ns = 20, .ready_ns = 30, .gil_ns = 0, .waited_ns = 0}));
  EXPECT_EQ(TimesOfLooks(Record(40, 130, GilState::kWaits), 0, 0), LookTimes{});
}

// A nanosecond that rounding leaves is no sleep.
TEST(LookTimes, WhatDidNotHappenIsNoPartOfAnyStretch) {
  for (int64_t ns = 1; ns <= 100; ++ns) {
    const LookTimes slept_never = TimesOfLooks(Record(33, 67, GilState::kUnknown), 0, ns);
    EXPECT_EQ(slept_never.waited_ns, 0) << ns;
    EXPECT_EQ(slept_never.ns(), ns);
    const LookTimes slept = TimesOfLooks(Record(0, 0, GilState::kUnknown), 0, ns);
    EXPECT_EQ(slept, (LookTimes{.waited_ns = ns}));
  }
}

}  // namespace
}  // namespace batchlight
