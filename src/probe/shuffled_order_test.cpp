#include "probe/shuffled_order.h"

#include <gtest/gtest.h>

#include <set>

namespace batchlight::probe {
namespace {

TEST(ShuffledOrder, EveryNumberOnce) {
  for (const uint64_t count : {0, 1, 2, 3, 7, 8, 1000, 4097}) {
    ShuffledOrder order(count, 42);
    std::set<uint64_t> seen;
    uint64_t number = 0;
    uint64_t calls = 0;
    while (order.Next(number)) {
      EXPECT_LT(number, count);
      seen.insert(number);
      ++calls;
    }
    EXPECT_EQ(seen.size(), count);
    EXPECT_EQ(calls, count);
  }
}

// What read-ahead would guess: the next number, or the same distance again.
TEST(ShuffledOrder, HasNoPattern) {
  constexpr uint64_t kCount = 100'000;
  ShuffledOrder order(kCount, 1);
  uint64_t before = 0;
  uint64_t number = 0;
  int64_t last_distance = 0;
  uint64_t next = 0;
  uint64_t same_distance = 0;
  uint64_t near = 0;
  while (order.Next(number)) {
    const int64_t distance = static_cast<int64_t>(number) - static_cast<int64_t>(before);
    next += distance == 1 ? 1 : 0;
    same_distance += distance == last_distance ? 1 : 0;
    near += distance > -1000 && distance < 1000 ? 1 : 0;
    last_distance = distance;
    before = number;
  }
  EXPECT_LT(next, kCount / 1000);
  EXPECT_LT(same_distance, kCount / 100);
  EXPECT_LT(near, kCount / 20);
}

TEST(ShuffledOrder, SeedsDiffer) {
  ShuffledOrder a(1000, 1);
  ShuffledOrder b(1000, 2);
  uint64_t x = 0;
  uint64_t y = 0;
  int same = 0;
  while (a.Next(x) && b.Next(y)) same += x == y ? 1 : 0;
  EXPECT_LT(same, 100);
}

}  // namespace
}  // namespace batchlight::probe
