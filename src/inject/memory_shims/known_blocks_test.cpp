#include "inject/memory_shims/known_blocks.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace batchlight::inject::memory {
namespace {

const void* Block(size_t number) { return reinterpret_cast<const void*>(number * 64); }

TEST(KnownBlocks, AreThereUntilTheyAreTakenOut) {
  auto known = std::make_unique<KnownBlocks<16, 64>>();
  EXPECT_FALSE(known->MayHave(Block(1)));
  EXPECT_TRUE(known->Add(Block(1)));
  EXPECT_TRUE(known->MayHave(Block(1)));
  EXPECT_FALSE(known->Remove(Block(2)));
  EXPECT_TRUE(known->Remove(Block(1)));
  EXPECT_FALSE(known->Remove(Block(1)));
  EXPECT_FALSE(known->MayHave(Block(1)));
}

TEST(KnownBlocks, AFullBucketRefuses) {
  auto known = std::make_unique<KnownBlocks<1, 1>>();
  for (size_t i = 1; i <= 8; ++i) EXPECT_TRUE(known->Add(Block(i)));
  EXPECT_FALSE(known->Add(Block(9)));
  EXPECT_TRUE(known->Remove(Block(5)));
  EXPECT_TRUE(known->Add(Block(9)));
  for (const size_t i : {1, 2, 3, 4, 6, 7, 8, 9}) EXPECT_TRUE(known->Remove(Block(i)));
  EXPECT_FALSE(known->MayHave(Block(1)));
}

// The bytes before the buckets are of neighbourhoods: one held block asks for a look at 1 KiB.
TEST(KnownBlocks, MayHaveWhatLiesBeside) {
  auto known = std::make_unique<KnownBlocks<16, 64>>();
  ASSERT_TRUE(known->Add(Block(16)));  // at 1024
  EXPECT_TRUE(known->MayHave(Block(31)));
  EXPECT_FALSE(known->MayHave(Block(15)));
  EXPECT_FALSE(known->MayHave(Block(32)));
}

TEST(KnownBlocks, HaveAll) {
  auto known = std::make_unique<KnownBlocks<16, 64>>();
  known->HaveAll();
  ASSERT_TRUE(known->Add(Block(1)));
  EXPECT_TRUE(known->Remove(Block(1)));
  for (size_t i = 0; i < 64 * 16; ++i) EXPECT_TRUE(known->MayHave(Block(i)));
}

// Of a block that one thread adds and another one takes out, nothing is left.
TEST(KnownBlocks, TakesBlocksOfManyThreads) {
  auto known = std::make_unique<KnownBlocks<1024, 1024>>();
  constexpr size_t kThreads = 4, kEach = 400;
  std::vector<std::thread> threads;
  std::atomic<size_t> refused{0};
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (size_t round = 0; round < 50; ++round) {
        for (size_t i = 0; i < kEach; ++i) refused += !known->Add(Block(1 + t * kEach + i));
        for (size_t i = 0; i < kEach; ++i) refused += !known->Remove(Block(1 + t * kEach + i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused.load(), 0u);
  for (size_t i = 1; i <= kThreads * kEach; ++i) EXPECT_FALSE(known->MayHave(Block(i)));
}

}  // namespace
}  // namespace batchlight::inject::memory
