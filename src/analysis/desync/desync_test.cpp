#include "analysis/desync/desync.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight {
namespace {

// Rank `rank` of four, which made `calls` all_reduces in the group of all; the last one runs.
FlightDump DumpOf(int32_t rank, uint64_t calls, FlightState last = FlightState::kStarted) {
  FlightDump dump{.label = "nccl_trace_rank_" + std::to_string(rank), .rank = rank};
  dump.groups.push_back({.name = "0", .description = "default_pg", .ranks = {0, 1, 2, 3}});
  for (uint64_t number = 1; number <= calls; ++number) {
    dump.calls.push_back({.number = number,
                          .operation = "all_reduce",
                          .elements = 1024,
                          .type = "Float",
                          .state = number == calls ? last : FlightState::kCompleted,
                          .created_ns = static_cast<int64_t>(number) * 1000 + rank,
                          .place = "train.py:23 (main)"});
  }
  return dump;
}

std::vector<FlightDump> FourRanks() {
  std::vector<FlightDump> dumps;
  for (int32_t rank = 0; rank < 4; ++rank) dumps.push_back(DumpOf(rank, 9));
  return dumps;
}

TEST(Desync, ARankThatHasNotComeIsNamed) {
  std::vector<FlightDump> dumps = FourRanks();
  dumps[2] = DumpOf(2, 8, FlightState::kCompleted);
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  const Desync& found = result.found[0];
  EXPECT_EQ(found.kind, DesyncKind::kMissing);
  EXPECT_EQ(found.group, "0 (default_pg)");
  EXPECT_EQ(found.number, 9u);
  EXPECT_EQ(found.call, "all_reduce of 1,024 Float");
  EXPECT_EQ(found.place, "train.py:23 (main)");
  EXPECT_EQ(found.others, (std::vector<int32_t>{2}));
  EXPECT_EQ(found.waiting, (std::vector<int32_t>{0, 1, 3}));
  EXPECT_EQ(result.suspects, (std::vector<int32_t>{2}));
  EXPECT_TRUE(result.notes.empty());
  ASSERT_EQ(result.ranks.size(), 4u);
  EXPECT_EQ(result.ranks[2].number, 8u);
  EXPECT_EQ(result.ranks[2].state, FlightState::kCompleted);
}

TEST(Desync, AnotherSizeOrOperationComesFirst) {
  std::vector<FlightDump> dumps = FourRanks();
  dumps[1].calls[8].elements = 512;
  DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kDiffers);
  EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  EXPECT_EQ(result.found[0].other_call, "all_reduce of 512 Float");
  EXPECT_EQ(result.suspects, (std::vector<int32_t>{1}));
  dumps = FourRanks();
  dumps[3].calls[6].operation = "broadcast";
  result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u) << "what follows from it is not said";
  EXPECT_EQ(result.found[0].number, 7u);
  EXPECT_EQ(result.found[0].other_call, "broadcast of 1,024 Float");
}

// Of these each rank may bring another size.
TEST(Desync, GatheredSizesMayDiffer) {
  std::vector<FlightDump> dumps = FourRanks();
  for (FlightDump& dump : dumps) {
    for (FlightCall& call : dump.calls)
      call.operation = "all_to_all", call.state = FlightState::kCompleted;
    dump.calls[3].elements = uint64_t(dump.rank);
  }
  EXPECT_TRUE(FindDesync(dumps).found.empty());
}

// Rank 2 waits in another group for rank 3: that rank is the one to look at.
TEST(Desync, WhoWaitsElsewhereIsNoSuspect) {
  std::vector<FlightDump> dumps = FourRanks();
  for (const int32_t rank : {2, 3}) {
    dumps[size_t(rank)] = DumpOf(rank, 8, FlightState::kCompleted);
    dumps[size_t(rank)].groups.push_back({.name = "1", .description = "tp", .ranks = {2, 3}});
  }
  FlightCall call = dumps[2].calls[0];
  call.group = 1;
  call.state = FlightState::kScheduled;
  dumps[2].calls.push_back(call);
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 2u);
  EXPECT_EQ(result.suspects, (std::vector<int32_t>{3}));
  EXPECT_EQ(result.ranks[2].group, "1 (tp)");
}

// Rank 3 was killed and left no dump; rank 2 waits for it, and is to blame for nothing.
TEST(Desync, WhoWaitsForOneWithoutADumpIsNoSuspect) {
  std::vector<FlightDump> dumps = FourRanks();
  dumps.pop_back();
  dumps[2] = DumpOf(2, 8, FlightState::kCompleted);
  dumps[2].groups.push_back({.name = "1", .description = "tp", .ranks = {2, 3}});
  FlightCall call = dumps[2].calls[0];
  call.group = 1;
  call.state = FlightState::kStarted;
  dumps[2].calls.push_back(call);
  EXPECT_TRUE(FindDesync(dumps).suspects.empty());
  dumps[2].calls.back().between_two = true;  // a stage that waits for another's activations
  EXPECT_TRUE(FindDesync(dumps).suspects.empty());
}

// PyTorch says what runs only if it is asked to.
TEST(Desync, WithoutStartsNoRankIsSaidNotToHaveBegun) {
  std::vector<FlightDump> dumps = FourRanks();
  for (FlightDump& dump : dumps) dump.calls.back().state = FlightState::kScheduled;
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_TRUE(result.found[0].others.empty());
  EXPECT_EQ(FlightStateName(result.ranks[0].state, result.knows_starts), "not done");
}

TEST(Desync, AllHaveComeAndItDoesNotEnd) {
  std::vector<FlightDump> dumps = FourRanks();
  dumps[1].calls[8].state = FlightState::kScheduled;
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kUnfinished);
  EXPECT_EQ(result.found[0].others, (std::vector<int32_t>{1}));
  EXPECT_TRUE(result.suspects.empty());
}

TEST(Desync, WhatNoDumpTellsIsNotSaidOfARank) {
  std::vector<FlightDump> dumps = FourRanks();
  dumps.erase(dumps.begin() + 3);
  dumps.push_back(dumps[0]);
  dumps[0].calls.erase(dumps[0].calls.begin(), dumps[0].calls.begin() + 4);  // the ring went on
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kUnfinished);
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_NE(result.notes[0].find("as another is: left out"), std::string::npos);
  EXPECT_EQ(result.notes[1],
            "of 1 of 4 ranks there is no dump (3): whether they came is not known");
}

TEST(Desync, AHealthyJobHasNone) {
  std::vector<FlightDump> dumps;
  for (int32_t rank = 0; rank < 4; ++rank)
    dumps.push_back(DumpOf(rank, 9, FlightState::kCompleted));
  EXPECT_TRUE(FindDesync(dumps).found.empty());
  dumps[1] = DumpOf(1, 8, FlightState::kCompleted);  // dumped a little earlier
  EXPECT_TRUE(FindDesync(dumps).found.empty());
  EXPECT_TRUE(FindDesync({}).found.empty());
}

// Nothing of a dump is needed once it was added.
TEST(Desync, DumpsAreAddedOneByOne) {
  DesyncFinder finder;
  for (int32_t rank = 0; rank < 4; ++rank) {
    FlightDump dump = DumpOf(rank, rank == 2 ? 8 : 9, FlightState::kStarted);
    finder.Add(dump);
    for (FlightCall& call : dump.calls) call = {};
  }
  const DesyncResult result = finder.Finish();
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].number, 8u);
  EXPECT_EQ(result.found[0].kind, DesyncKind::kUnfinished);
  EXPECT_EQ(result.found[0].waiting, (std::vector<int32_t>{2}));
  EXPECT_EQ(result.ranks[2].call, "all_reduce of 1,024 Float");
}

// Of several calls that were made as one, the first that has not ended says since when.
TEST(Desync, CallsMadeAsOneAreOne) {
  std::vector<FlightDump> dumps = FourRanks();
  for (FlightDump& dump : dumps) {
    FlightCall second = dump.calls.back();
    dump.calls.back().state = FlightState::kCompleted;
    second.elements = 7;
    second.created_ns += 50;
    dump.calls.push_back(second);
  }
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].call, "all_reduce of 1,024 Float");
  EXPECT_EQ(result.found[0].waiting.size(), 4u);
  EXPECT_EQ(result.found[0].since_ns, 9050);
}

// 20,000 calls that have ended, of a group of a million ranks: each rank is looked at once.
TEST(Desync, ALargeGroupIsLookedAtOnce) {
  std::vector<FlightDump> dumps = {DumpOf(0, 20'000)};
  std::vector<int32_t>& ranks = dumps[0].groups[0].ranks;
  for (int32_t rank = 4; rank < 1'000'000; ++rank) ranks.push_back(rank);
  const DesyncResult result = FindDesync(dumps);
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.found[0].number, 20'000u);
  EXPECT_EQ(result.found[0].group_ranks, 1'000'000u);
}

}  // namespace
}  // namespace batchlight
