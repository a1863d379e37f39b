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
