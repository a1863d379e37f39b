#include "store/flat_map.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace batchlight {
namespace {

TEST(FlatMap, AgreesWithAnOrdinaryMap) {
  std::mt19937_64 random(3);
  FlatMap map;
  std::unordered_map<uint64_t, uint32_t> expected;
  EXPECT_EQ(map.Find(1), FlatMap::kAbsent);
  for (uint32_t i = 0; i < 20000; ++i) {
    const uint64_t key = i % 3 == 0 ? random() : random() % 5000;
    const auto [place, added] = expected.try_emplace(key, i);
    EXPECT_EQ(map.FindOrAdd(key, i), place->second);
  }
  EXPECT_EQ(map.size(), expected.size());
  for (const auto& [key, value] : expected) EXPECT_EQ(map.Find(key), value);
  EXPECT_EQ(map.FindOrAdd(0, 7), expected.contains(0) ? expected[0] : 7);
}

}  // namespace
}  // namespace batchlight
