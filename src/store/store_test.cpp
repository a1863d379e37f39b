#include "store/store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace batchlight {
namespace {

TEST(StringPool, GivesEachTextOneId) {
  StringPool pool;
  std::vector<StringId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(pool.Intern("name " + std::to_string(i)));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(pool.Intern("name " + std::to_string(i)), ids[static_cast<size_t>(i)]);
    EXPECT_EQ(pool.Get(ids[static_cast<size_t>(i)]), "name " + std::to_string(i));
  }
  EXPECT_EQ(pool.size(), 5000u);
  EXPECT_TRUE(pool.Find("absent").IsNone());
  EXPECT_EQ(pool.Get(StringId::None()), "");
}

TEST(StringPool, KeepsEmptyBinaryAndHugeStrings) {
  StringPool pool;
  const std::string binary("a\0b", 3);
  const std::string huge(1 << 20, 'x');
  EXPECT_EQ(pool.Get(pool.Intern("")), "");
  EXPECT_EQ(pool.Get(pool.Intern(binary)), binary);
  EXPECT_EQ(pool.Get(pool.Intern(huge)), huge);
}

TEST(Tables, AppendReorderAndRowAgree) {
  NvtxRangesTable ranges;
  ranges.Append({.start_ns = 5, .end_ns = 9, .depth = 1});
  ranges.Append({.start_ns = 2, .end_ns = kOpenEnd, .style = NvtxStyle::kStartEnd});
  const std::vector<uint32_t> order = {1, 0};
  ranges.Reorder(order);
  EXPECT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges.start_ns[0], 2);
  EXPECT_EQ(ranges.Row(1).end_ns, 9);
  EXPECT_TRUE(ranges.Row(1).thread.IsNone());
}

TEST(Store, PropertyIsTheLastValue) {
  Store store;
  const StringId key = store.strings.Intern("torch.version");
  store.properties.Append({.key = key, .value = store.strings.Intern("1")});
  store.properties.Append({.key = key, .value = store.strings.Intern("2")});
  EXPECT_EQ(store.Property("torch.version"), "2");
  EXPECT_EQ(store.Property("none"), "");
}

// 100 million events must fit into 24 GiB, where a range or operator counts as two events.
TEST(Store, ARowStaysUnder64BytesAnEvent) {
  size_t bytes = 0;
  NvtxRangesTable().VisitColumns([&](auto, auto, const auto& c) { bytes += sizeof(c[0]); });
  EXPECT_LE(bytes, 64u);
  bytes = 0;
  OperatorCallsTable().VisitColumns([&](auto, auto, const auto& c) { bytes += sizeof(c[0]); });
  EXPECT_LE(bytes, 64u);
}

}  // namespace
}  // namespace batchlight
