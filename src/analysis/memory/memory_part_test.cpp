#include "analysis/memory/memory_part.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

MemoryCurve CurveOf(std::vector<std::pair<int64_t, uint64_t>> points) {
  MemoryCurve curve;
  for (const auto& [time_ns, bytes] : points) {
    MemoryPoint& point = curve.points.emplace_back();
    point.time_ns = time_ns;
    point.bytes = bytes;
    point.of_category[static_cast<size_t>(MemoryCategory::kActivations)] = bytes;
  }
  return curve;
}

TEST(MemoryPart, CountsWhatLiesInside) {
  const std::vector<MemoryCurve> curves = {
      CurveOf({{10, 100}, {20, 300}, {30, 250}, {40, 700}, {50, 0}})};
  const std::vector<MemoryPart> parts = MemoryOfPart(curves, 20, 40);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_FALSE(parts[0].category.has_value());
  EXPECT_EQ(parts[1].category, MemoryCategory::kActivations);
  for (const MemoryPart& part : parts) {
    EXPECT_EQ(part.before_bytes, 100u);
    EXPECT_EQ(part.most_bytes, 300u);
    EXPECT_EQ(part.most_ns, 20);
    EXPECT_EQ(part.after_bytes, 250u);
    EXPECT_EQ(part.allocated_bytes, 200u);
    EXPECT_EQ(part.released_bytes, 50u);
    EXPECT_EQ(part.before_bytes + part.allocated_bytes - part.released_bytes, part.after_bytes);
  }
}

TEST(MemoryPart, HoldsWhatWasThereBefore) {
  const std::vector<MemoryCurve> curves = {CurveOf({{10, 100}})};
  const std::vector<MemoryPart> parts = MemoryOfPart(curves, 500, 600);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].most_bytes, 100u);
  EXPECT_EQ(parts[0].most_ns, 500);
  EXPECT_EQ(parts[0].allocated_bytes, 0u);
  EXPECT_TRUE(MemoryOfPart(curves, 0, 10).empty());
}

}  // namespace
}  // namespace batchlight
