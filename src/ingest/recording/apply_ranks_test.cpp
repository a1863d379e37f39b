#include "ingest/recording/apply_ranks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "format/launchers.h"

namespace batchlight {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The ranks of processes that have these properties.
std::vector<int32_t> RanksOf(const std::vector<Variables>& processes) {
  Store store;
  for (size_t row = 0; row < processes.size(); ++row) {
    store.processes.Append({.pid = static_cast<uint32_t>(row + 1), .rank = -1});
    for (const auto& [key, value] : processes[row]) {
      store.properties.Append(
          {ProcessId::At(row), store.strings.Intern(key), store.strings.Intern(value)});
    }
  }
  ApplyRanks(store);
  return {store.processes.rank.begin(), store.processes.rank.end()};
}

TEST(ApplyRanks, OfEveryLauncher) {
  for (const format::Launcher& launcher : format::kLaunchers) {
    const std::string variable = std::string("environment.") + launcher.rank;
    EXPECT_EQ(RanksOf({{{variable, "3"}}, {}, {{variable, "0"}}}), (std::vector<int32_t>{3, -1, 0}))
        << launcher.name;
  }
}

TEST(ApplyRanks, EveryVariableIsOnItsPage) {
  const auto page = ReadWholeFile(BATCHLIGHT_SOURCE_DIR "/docs/profile.md");
  ASSERT_TRUE(page.ok()) << page.status().message();
  for (const format::Launcher& launcher : format::kLaunchers) {
    EXPECT_NE(page.value().find(std::string("`") + launcher.rank + "`"), std::string::npos)
        << launcher.name;
  }
}

TEST(ApplyRanks, TheWorkersNumberCountsAndNotTheNodes) {
  const Variables torchrun = {{"environment.SLURM_PROCID", "1"}};
  const auto worker = [](const char* rank) {
    return Variables{{"environment.SLURM_PROCID", "1"}, {"environment.RANK", rank}};
  };
  EXPECT_EQ(RanksOf({torchrun, worker("2"), worker("3")}), (std::vector<int32_t>{-1, 2, 3}));
}

TEST(ApplyRanks, SpawnedProcessesTellTheirOwn) {
  const auto spawned = [](const char* rank) {
    return Variables{{"environment.SLURM_PROCID", "0"}, {"torch.distributed_rank", rank}};
  };
  const Variables parent = {{"environment.SLURM_PROCID", "0"}};
  EXPECT_EQ(RanksOf({parent, spawned("0"), spawned("1")}), (std::vector<int32_t>{-1, 0, 1}));
  EXPECT_EQ(RanksOf({{}, {{"torch.distributed_rank", "1"}}}), (std::vector<int32_t>{-1, 1}));
}

TEST(ApplyRanks, WhatIsNoNumberIsNoRank) {
  EXPECT_EQ(RanksOf({{{"environment.RANK", "none"}}, {{"environment.RANK", "1x"}}}),
            (std::vector<int32_t>{-1, -1}));
}

}  // namespace
}  // namespace batchlight
