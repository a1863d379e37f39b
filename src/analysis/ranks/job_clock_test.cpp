#include "analysis/ranks/job_clock.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kNoon = 1'700'000'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

Store StoreAt(int64_t start_utc_ns, const std::string& host) {
  testing::StoreBuilder build;
  build.Property("machine.hostname", host);
  build.Range(build.Thread(build.Process(7, "train.py")), "step", 0, 60 * kSecond);
  Store store = build.Build();
  store.session_start_utc_ns = start_utc_ns;
  return store;
}

ClocksOfJob Settle(int64_t first_ns, int64_t second_ns, JobClock clock = JobClock::kCollectives) {
  const Store a = StoreAt(first_ns, "a"), b = StoreAt(second_ns, "b");
  const std::vector<const Store*> stores = {&a, &b};
  const std::vector<std::string> labels = {"a.batchlight", "b.batchlight"};
  return SettleClocks(stores, labels, clock);
}

TEST(JobClock, TheEarliestInputBeginsAtZero) {
  const ClocksOfJob clocks = Settle(kNoon + 5 * kSecond, kNoon);
  EXPECT_EQ(clocks.shifts[0].Of(0), 5 * kSecond);
  EXPECT_EQ(clocks.shifts[1].Of(0), 0);
  EXPECT_EQ(clocks.start_utc_ns, kNoon);
  EXPECT_TRUE(clocks.notes.empty());
  EXPECT_NE(clocks.how.find("there are no collectives"), std::string::npos) << clocks.how;
}

TEST(JobClock, ClocksHoursApartAreNotBelieved) {
  const ClocksOfJob clocks = Settle(kNoon, kNoon + 7200 * kSecond);
  EXPECT_EQ(clocks.shifts[1].Of(0), 0);
  ASSERT_EQ(clocks.notes.size(), 1u);
  EXPECT_NE(clocks.notes[0].find("b.batchlight ran at another time"), std::string::npos);
}

TEST(JobClock, WhoDoesNotSayItsStartBeginsFirst) {
  const ClocksOfJob clocks = Settle(kNoon, 0);
  EXPECT_EQ(clocks.shifts[1].Of(0), 0);
  EXPECT_EQ(clocks.notes.size(), 1u);
  EXPECT_EQ(Settle(0, 0).start_utc_ns, 0);
}

// What the kernels say of their clocks counts where nothing else tells.
TEST(JobClock, HowFarClocksMayBeOffIsSaid) {
  const auto notes = [](JobClock clock, const std::string& second_host) {
    std::vector<Store> stores;
    for (const std::string& host : {std::string("a"), second_host}) {
      testing::StoreBuilder build;
      build.Property("machine.hostname", host);
      build.Property("machine.clock_error_us", "2500");
      build.Property("machine.clock_synchronized", "yes");
      build.Range(build.Thread(build.Process(7, "train.py")), "step", 0, 60 * kSecond);
      stores.push_back(build.Build());
      stores.back().session_start_utc_ns = kNoon;
    }
    const std::vector<const Store*> inputs = {&stores[0], &stores[1]};
    return SettleClocks(inputs, std::vector<std::string>{"a", "b"}, clock).notes;
  };
  EXPECT_EQ(
      notes(JobClock::kUtc, "b"),
      std::vector<std::string>{"clocks may be off by up to 2.5 ms, by what the kernels say (a)"});
  EXPECT_EQ(notes(JobClock::kCollectives, "b").size(), 1u) << "there are none";
  EXPECT_TRUE(notes(JobClock::kUtc, "a").empty()) << "one host has one clock";
  EXPECT_TRUE(notes(JobClock::kNone, "b").empty());
}

TEST(JobClock, NoneIsWhatItSays) {
  const ClocksOfJob clocks = Settle(kNoon, kNoon + 5 * kSecond, JobClock::kNone);
  EXPECT_EQ(clocks.shifts[1].Of(0), 0);
  EXPECT_EQ(Settle(kNoon, kNoon + 5 * kSecond, JobClock::kUtc).shifts[1].Of(0), 5 * kSecond);
}

}  // namespace
}  // namespace batchlight
