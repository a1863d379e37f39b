#include "analysis/ranks/call_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "analysis/ranks/call_numbers.h"

namespace batchlight {
namespace {

constexpr uint32_t kCalls = 40;  // more than the replay looks ahead

// Calls by turns on two communicators; `swapped`: each pair the other way round.
RankCalls ByTurns(uint32_t rank, bool swapped) {
  RankCalls calls;
  for (uint64_t communicator : {1, 2}) {
    calls.kinds.push_back({.communicator = communicator, .operation = "AllReduce", .bytes = 8});
  }
  for (uint32_t call = 0; call < kCalls; ++call) {
    calls.kind.push_back((call % 2 == 1) != swapped ? 1 : 0);
    calls.kernel.push_back(1000 * rank + call);
    calls.exposed.push_back(10 * rank + call);
  }
  return calls;
}

std::vector<std::vector<CallOfRank>> Visits(const std::vector<RankCalls>& ranks) {
  std::vector<const RankCalls*> pointers;
  for (const RankCalls& rank : ranks) pointers.push_back(&rank);
  std::vector<std::vector<CallOfRank>> visits;
  ReplayCalls(
      pointers, std::vector<FirstNumbers>(ranks.size()),
      [&](std::span<const CallOfRank> call) { visits.emplace_back(call.begin(), call.end()); });
  return visits;
}

TEST(CallReplay, VisitsHaveTheColumnsOfEachRank) {
  const std::vector<RankCalls> ranks = {ByTurns(0, false), ByTurns(1, false), ByTurns(2, false)};
  const auto visits = Visits(ranks);
  ASSERT_EQ(visits.size(), kCalls);
  for (uint32_t number = 0; number < kCalls; ++number) {
    ASSERT_EQ(visits[number].size(), 3u);
    for (const CallOfRank& one : visits[number]) {
      EXPECT_EQ(one.call, number);
      EXPECT_EQ(one.kernel, ranks[one.rank].kernel[number]);
      EXPECT_EQ(one.exposed, ranks[one.rank].exposed[number]);
    }
  }
}

TEST(CallReplay, CallsInAnotherOrderMeetByCommunicatorAndNumber) {
  const std::vector<RankCalls> ranks = {ByTurns(0, false), ByTurns(1, true)};
  const auto visits = Visits(ranks);
  ASSERT_EQ(visits.size(), kCalls);
  for (const auto& visit : visits) {
    ASSERT_EQ(visit.size(), 2u);
    EXPECT_EQ(ranks[0].kind[visit[0].rank == 0 ? visit[0].call : visit[1].call],
              ranks[1].kind[visit[0].rank == 1 ? visit[0].call : visit[1].call]);
    EXPECT_EQ(visit[0].call / 2, visit[1].call / 2);
  }
}

TEST(CallReplay, CallsOfOtherSizesAreVisitedApart) {
  std::vector<RankCalls> ranks = {ByTurns(0, false), ByTurns(1, false), ByTurns(2, false)};
  ranks[1].kinds[0].bytes = 16;
  std::map<size_t, size_t> visits;  // by the ranks in them
  for (const auto& visit : Visits(ranks)) ++visits[visit.size()];
  EXPECT_EQ(visits, (std::map<size_t, size_t>{{1, kCalls / 2}, {2, kCalls / 2}, {3, kCalls / 2}}));
}

// A stage sends twice and receives once; its collectives are still the first and second of all.
TEST(CallReplay, SendsAreOfOneRankAndNotCounted) {
  std::vector<RankCalls> ranks(2);
  const char* const operations[] = {"Send", "Recv", "AllReduce"};
  for (const char* operation : operations) {
    for (RankCalls& rank : ranks) {
      rank.kinds.push_back({.communicator = 1, .operation = operation, .bytes = 8});
    }
  }
  ranks[0].kind = {0, 2, 0, 1, 2};
  ranks[1].kind = {1, 2, 2};
  for (RankCalls& rank : ranks) {
    rank.kernel.assign(rank.kind.size(), 1);
    rank.exposed = rank.kernel;
  }
  std::vector<size_t> sizes;
  std::vector<std::pair<uint32_t, uint32_t>> met;
  for (const auto& visit : Visits(ranks)) {
    sizes.push_back(visit.size());
    if (visit.size() < 2) continue;
    const bool first = visit[0].rank == 0;
    met.emplace_back(visit[first ? 0 : 1].call, visit[first ? 1 : 0].call);
  }
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 1u), 4);
  EXPECT_EQ(met, (std::vector<std::pair<uint32_t, uint32_t>>{{1, 1}, {4, 2}}));
}

// The last rank made fewer: the others' calls are visited without it.
TEST(CallReplay, ARankThatEndsEarlyIsNotWaitedFor) {
  std::vector<RankCalls> ranks = {ByTurns(0, false), ByTurns(1, false)};
  ranks[1].kind.resize(21), ranks[1].kernel.resize(21), ranks[1].exposed.resize(21);
  std::map<size_t, size_t> visits;
  for (const auto& visit : Visits(ranks)) ++visits[visit.size()];
  EXPECT_EQ(visits, (std::map<size_t, size_t>{{1, 19}, {2, 21}}));
}

// A forged file has as many communicators as calls, and ranks that come to them the other way
// round.
TEST(CallReplay, RanksThatNeverMeetAreDoneSoon) {
  constexpr uint16_t kMany = 60'000;
  std::vector<RankCalls> ranks(2);
  for (uint16_t i = 0; i < kMany; ++i) {
    for (RankCalls& rank : ranks) {
      rank.kinds.push_back({.communicator = i, .operation = "AllReduce", .bytes = 8});
      rank.kernel.push_back(1);
      rank.exposed.push_back(1);
      rank.ends.Append(int64_t{i} * 1000);
    }
    ranks[0].kind.push_back(i);
    ranks[1].kind.push_back(kMany - 1 - i);
  }
  const std::vector<const RankCalls*> pointers = {&ranks[0], &ranks[1]};
  const std::clock_t begin = std::clock();
  size_t visited = 0;
  ReplayCalls(pointers, NumberCalls(pointers, {}),
              [&](std::span<const CallOfRank> call) { visited += call.size(); });
  EXPECT_EQ(visited, 2u * kMany);
  EXPECT_LT(std::clock() - begin, 20 * CLOCKS_PER_SEC);  // minutes, if it grows with the square
}

// So many that they are played and visited beside each other.
TEST(CallReplay, ALargeJobIsVisitedInTheSameOrder) {
  constexpr uint32_t kMany = 300'000;
  std::vector<RankCalls> ranks(8);
  for (RankCalls& rank : ranks) {
    rank.kinds.push_back({.communicator = 1, .operation = "AllReduce", .bytes = 8});
    rank.kind.resize(kMany);
    rank.kernel.resize(kMany);
    rank.exposed.resize(kMany);
  }
  std::vector<const RankCalls*> pointers;
  for (const RankCalls& rank : ranks) pointers.push_back(&rank);
  uint32_t next = 0;
  ReplayCalls(pointers, std::vector<FirstNumbers>(ranks.size()),
              [&](std::span<const CallOfRank> call) {
                ASSERT_EQ(call.size(), ranks.size());
                for (const CallOfRank& one : call) ASSERT_EQ(one.call, next);
                ++next;
              });
  EXPECT_EQ(next, kMany);
}

}  // namespace
}  // namespace batchlight
