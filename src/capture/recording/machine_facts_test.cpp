#include "capture/recording/machine_facts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>

namespace batchlight::capture {
namespace {

std::string ValueOf(const Facts& facts, const std::string& key) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == key; });
  return found == facts.end() ? "" : found->second;
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

TEST(MachineFacts, TheKernelsEstimateOfItsClock) {
  timex clock{};
  const bool may_ask = adjtimex(&clock) >= 0;
  const Facts facts = MachineFacts();
  EXPECT_EQ(ValueOf(facts, "machine.clock_error_us").empty(), !may_ask);
  const bool is_kept = (clock.status & STA_UNSYNC) == 0;
  EXPECT_EQ(ValueOf(facts, "machine.clock_synchronized"), !may_ask ? "" : is_kept ? "yes" : "no");
}

}  // namespace
}  // namespace batchlight::capture
