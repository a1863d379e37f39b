#include "analysis/ranks/host_clocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

HostClock ClockOf(const std::string& host, const std::string& error_us,
                  const std::string& synchronized) {
  testing::StoreBuilder build;
  build.Property("machine.hostname", host);
  if (!error_us.empty()) build.Property("machine.clock_error_us", error_us);
  if (!synchronized.empty()) build.Property("machine.clock_synchronized", synchronized);
  return HostClockOf(build.Build());
}

TEST(HostClocks, TheLargestErrorIsSaid) {
  const std::vector<HostClock> clocks = {ClockOf("a", "350", "yes"), ClockOf("b", "12340", "yes")};
  EXPECT_EQ(HostClocksText(clocks),
            "clocks may be off by up to 12.4 ms, by what the kernels say (b)");
}

TEST(HostClocks, AClockThatNobodyKeepsIsNamed) {
  const std::vector<HostClock> one = {ClockOf("a", "350", "yes"), ClockOf("b", "16000000", "no")};
  EXPECT_EQ(HostClocksText(one),
            "the clock of b is not synchronised, by what the kernel says: times of different hosts "
            "may be off by any amount");
  std::vector<HostClock> many;
  for (const char* host : {"a", "b", "c", "d", "e", "f", "f"}) {
    many.push_back(ClockOf(host, "16000000", "no"));
  }
  EXPECT_EQ(HostClocksText(many).find("the clocks of a, b, c, d and 2 more are not"), 0u);
}

TEST(HostClocks, WhatIsNotKnownOrForgedIsNotSaid) {
  const std::vector<HostClock> clocks = {ClockOf("a", "", ""), ClockOf("b", "x", "no"),
                                         ClockOf("c", "-5", "no"),
                                         ClockOf("d", "99999999999999999", "no")};
  EXPECT_EQ(HostClocksText(clocks), "");
}

TEST(HostClocks, OfWhichNothingIsKnownIsSaid) {
  const std::vector<HostClock> clocks = {ClockOf("a", "350", "yes"), ClockOf("b", "", ""),
                                         ClockOf("a", "", "")};
  EXPECT_EQ(HostClocksText(clocks),
            "clocks may be off by up to 0.4 ms, by what the kernels say (a); nothing is known of "
            "the clock of b");
}

}  // namespace
}  // namespace batchlight
