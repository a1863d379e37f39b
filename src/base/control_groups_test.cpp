#include "base/control_groups.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace batchlight {
namespace {

class ControlGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_groups_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    groups_ = {base_ + "/membership", base_ + "/root"};
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = base_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string base_;
  ControlGroups groups_;
};

TEST_F(ControlGroupsTest, NoneLeavesEverything) {
  EXPECT_EQ(QuotaProcessors(groups_), 0);
  EXPECT_EQ(FreeMemoryInGroups(groups_), UINT64_MAX);
}

TEST_F(ControlGroupsTest, AQuotaIsRoundedUpToWholeProcessors) {
  Write("membership", "0::/\n");
  const auto processors = [&](const char* text) {
    Write("root/cpu.max", text);
    return QuotaProcessors(groups_);
  };
  EXPECT_EQ(processors("200000 100000\n"), 2);
  EXPECT_EQ(processors("150000 100000\n"), 2);
  EXPECT_EQ(processors("10000 100000\n"), 1);
  for (const char* none : {"max 100000\n", "-1 100000", "", " ", "100000", "100000 0", "x y"}) {
    EXPECT_EQ(processors(none), 0) << none;
  }
}

TEST_F(ControlGroupsTest, TheTightestLimitSaysWhereItsGroupCounts) {
  Write("membership", "0::/jobs/42/step\n");
  Write("root/jobs/42/step/cpu.max", "800000 100000\n");
  Write("root/jobs/42/cpu.max", "150000 100000\n");
  Write("root/jobs/42/step/memory.max", "max\n");
  Write("root/jobs/memory.max", "9000\n");
  const GroupLimits limits = TightestLimits(groups_);
  EXPECT_EQ(limits.processors, 1.5);
  EXPECT_EQ(limits.cpu_counts, base_ + "/root/jobs/42/cpu.stat");
  EXPECT_EQ(limits.cpu_time, limits.cpu_counts);
  EXPECT_EQ(limits.time_key, "usage_usec ");
  EXPECT_EQ(limits.unit_ns, 1000);
  EXPECT_EQ(limits.memory_bytes, 9000u);
  EXPECT_EQ(limits.memory_used, base_ + "/root/jobs/memory.current");
}

TEST_F(ControlGroupsTest, WithoutALimitItsOwnGroupCounts) {
  Write("membership", "4:memory:/m\n2:cpuacct,cpu:/c\n");
  Write("root/memory/m/memory.limit_in_bytes", "9223372036854771712\n");
  const GroupLimits limits = TightestLimits(groups_);
  EXPECT_EQ(limits.processors, 0);
  EXPECT_EQ(limits.cpu_counts, base_ + "/root/cpu/c/cpu.stat");
  EXPECT_EQ(limits.cpu_time, base_ + "/root/cpuacct/c/cpuacct.usage");
  EXPECT_EQ(limits.time_key, "");
  EXPECT_EQ(limits.throttled_key, "throttled_time ");
  EXPECT_EQ(limits.unit_ns, 1);
  EXPECT_EQ(limits.memory_bytes, kNoMemoryLimit);
  EXPECT_EQ(limits.memory_used, base_ + "/root/memory/m/memory.usage_in_bytes");
}

TEST_F(ControlGroupsTest, TheTightestOfTheGroupsAroundItHolds) {
  Write("membership", "0::/jobs/42/step\n");
  Write("root/jobs/42/step/cpu.max", "800000 100000\n");
  Write("root/jobs/42/cpu.max", "400000 100000\n");
  Write("root/jobs/cpu.max", "max 100000\n");
  EXPECT_EQ(QuotaProcessors(groups_), 4);
  Write("root/jobs/42/step/memory.max", "max\n");
  Write("root/jobs/42/memory.max", "5000\n");
  Write("root/jobs/42/memory.current", "3000\n");
  Write("root/jobs/42/memory.stat", "anon 2000\ninactive_file 500\n");
  Write("root/jobs/memory.max", "9000\n");
  EXPECT_EQ(FreeMemoryInGroups(groups_), 2500u);
  Write("root/jobs/42/memory.current", "7000\n");
  EXPECT_EQ(FreeMemoryInGroups(groups_), 0u);
}

TEST_F(ControlGroupsTest, AContainerSeesItsGroupAsTheRoot) {
  Write("membership", "0::/system.slice/docker-1.scope\n");
  Write("root/cpu.max", "300000 100000\n");
  Write("root/memory.max", "1000\n");
  EXPECT_EQ(QuotaProcessors(groups_), 3);
  EXPECT_EQ(FreeMemoryInGroups(groups_), 1000u);
}

TEST_F(ControlGroupsTest, OfTheFirstVersion) {
  Write("membership", "4:memory:/job/1\n3:cpu,cpuacct:/job\n2:cpuset:/\n0::/\n");
  Write("root/cpu/job/cpu.cfs_quota_us", "250000\n");
  Write("root/cpu/job/cpu.cfs_period_us", "100000\n");
  Write("root/cpu/cpu.cfs_quota_us", "-1\n");
  Write("root/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(QuotaProcessors(groups_), 3);
  Write("root/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("root/memory/job/memory.limit_in_bytes", "6000\n");
  Write("root/memory/job/memory.usage_in_bytes", "4000\n");
  Write("root/memory/job/memory.stat", "inactive_file 9\ntotal_inactive_file 1000\n");
  EXPECT_EQ(FreeMemoryInGroups(groups_), 3000u);
}

}  // namespace
}  // namespace batchlight
