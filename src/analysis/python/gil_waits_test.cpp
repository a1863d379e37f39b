#include "analysis/python/gil_waits.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

class GilWaitsTest : public testing::Test {
 protected:
  GilWaitsTest() {
    store_.processes.Append({.pid = 1});
    for (const uint32_t tid : {1u, 2u}) {
      store_.threads.Append({.process = ProcessId::At(0), .tid = tid});
    }
    for (const auto& [function, line] : {std::pair{"train", 5u}, {"count", 9u}, {"count", 10u}}) {
      store_.python_frames.Append(
          {.file = Text("fight.py"), .function = Text(function), .line = line});
      store_.python_stacks.Append({.frame = PythonFrameId::At(store_.python_frames.size() - 1)});
    }
  }
  StringId Text(std::string_view text) { return store_.strings.Intern(text); }
  void Sample(size_t thread, int64_t start_ns, int64_t end_ns, size_t stack, GilState gil,
              ThreadId holder = {}) {
    store_.python_samples.Append({.start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .thread = ThreadId::At(thread),
                                  .python_stack = PythonStackId::At(stack),
                                  .samples = 1,
                                  .gil = gil,
                                  .gil_holder = holder});
  }
  Store store_;
};

TEST_F(GilWaitsTest, AreOfWhatTheHolderDidMeanwhile) {
  const ThreadId other = ThreadId::At(1);
  Sample(0, 0, 100, 0, GilState::kHolds);
  Sample(0, 100, 200, 0, GilState::kWaits, other);
  Sample(0, 200, 240, 0, GilState::kWaits, other);
  Sample(0, 240, 300, 0, GilState::kWaits);  // nobody had it when looked at
  Sample(1, 0, 130, 1, GilState::kHolds);
  Sample(1, 130, 230, 2, GilState::kHolds);
  const std::vector<GilWaits> all = FindGilWaits(store_);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].thread, ThreadId::At(0));
  EXPECT_EQ(all[0].looked_ns, 300);
  EXPECT_EQ(all[0].waited_ns, 200);
  ASSERT_EQ(all[0].holders.size(), 3u);
  EXPECT_EQ(all[0].holders[0].thread, other);
  EXPECT_EQ(store_.Text(all[0].holders[0].function), "count");
  EXPECT_EQ(all[0].holders[0].line, 10u);  // 100 of 130 ns
  EXPECT_EQ(all[0].holders[0].ns, 130);
  EXPECT_TRUE(all[0].holders[1].thread.IsNone());
  EXPECT_EQ(all[0].holders[1].ns, 60);
  EXPECT_EQ(all[0].holders[2].ns, 10);  // that thread, in what is not known
}

TEST_F(GilWaitsTest, OfAStretchThePartInsideCounts) {
  Sample(0, 100, 200, 0, GilState::kWaits, ThreadId::At(1));
  Sample(1, 0, 300, 1, GilState::kHolds);
  const std::vector<GilWaits> all = FindGilWaits(store_, {150, 400});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].waited_ns, 50);
  ASSERT_EQ(all[0].holders.size(), 1u);
  EXPECT_EQ(all[0].holders[0].ns, 50);
}

TEST_F(GilWaitsTest, HoldersOfADamagedFileHaveNoMoreThanTheWait) {
  Sample(0, 0, 100, 0, GilState::kWaits, ThreadId::At(1));
  for (int look = 0; look < 10; ++look) Sample(1, 0, 90, 1, GilState::kHolds);
  for (int look = 0; look < 100'000; ++look) Sample(1, 90, 90, 1, GilState::kHolds);
  Sample(1, 90, 100, 2, GilState::kHolds);  // too far down the list of those that overlap
  const std::vector<GilWaits> all = FindGilWaits(store_);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].holders.size(), 1u);
  EXPECT_EQ(all[0].holders[0].ns, 100);
}

TEST_F(GilWaitsTest, WhoNeverWaitsHasNone) {
  Sample(0, 0, 100, 0, GilState::kUnknown);
  Sample(1, 0, 100, 0, GilState::kApart);
  EXPECT_TRUE(FindGilWaits(store_).empty());
}

}  // namespace
}  // namespace batchlight
