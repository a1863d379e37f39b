#include "format/records.h"

#include <gtest/gtest.h>

#include <set>

namespace batchlight::format {
namespace {

TEST(Records, NumbersAreUnique) {
  std::set<int> seen;
#define RECORD_BEGIN(Name, number, since, doc) EXPECT_TRUE(seen.insert(number).second) << #Name;
#define FIELD(type, name, doc)
#define RECORD_END(Name)
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
}

TEST(Records, HeadKeepsItsParts) {
  const uint64_t head = MakeHead(17, 6, kMaxTicksInChunk);
  EXPECT_EQ(HeadKind(head), 17);
  EXPECT_EQ(HeadWords(head), 6u);
  EXPECT_EQ(HeadTicks(head), kMaxTicksInChunk);
}

TEST(Records, PushAndPopAreSmall) {
  // The hot pair: 24 bytes, 12 an event before compression.
  EXPECT_EQ(sizeof(RangePushRecord), 16u);
  EXPECT_EQ(sizeof(RangePopRecord), 8u);
}

}  // namespace
}  // namespace batchlight::format
