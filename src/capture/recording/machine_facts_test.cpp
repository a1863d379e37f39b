#include "capture/recording/machine_facts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace batchlight::capture {
namespace {

std::string ValueOf(const Facts& facts, const std::string& key) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == key; });
  return found == facts.end() ? "" : found->second;
}

TEST(MachineFacts, AQuotaIsRoundedUpToWholeProcessors) {
  EXPECT_EQ(CoresOfQuota("200000 100000"), 2);
  EXPECT_EQ(CoresOfQuota("150000 100000"), 2);
  EXPECT_EQ(CoresOfQuota("10000 100000"), 1);
  for (const char* none : {"max 100000", "-1 100000", "", " ", "100000", "100000 0", "x y"}) {
    EXPECT_EQ(CoresOfQuota(none), 0) << none;
  }
}

TEST(MachineFacts, FewerProcessorsThanTheMachineHasAreSaid) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  size_t processor = 0;
  while (!CPU_ISSET(processor, &before)) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const Facts facts = MachineFacts();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  const bool has_more = sysconf(_SC_NPROCESSORS_ONLN) > 1;
  EXPECT_EQ(ValueOf(facts, "machine.usable_cores"), has_more ? "1" : "");
  EXPECT_EQ(ValueOf(facts, "machine.cores"), std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace
}  // namespace batchlight::capture
