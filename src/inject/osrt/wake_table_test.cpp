#include "inject/osrt/wake_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace batchlight::inject::osrt {
namespace {

TEST(WakeTable, SaysWhoWokeSinceTheWaitBegan) {
  static WakeTable table = {};
  const int lock = 0, other = 0;
  EXPECT_EQ(table.Waker(&lock, 0), 0u);
  table.Wake(&lock, 41, 1000);
  EXPECT_EQ(table.Waker(&lock, 900), 41u);
  EXPECT_EQ(table.Waker(&lock, 1000), 41u);
  EXPECT_EQ(table.Waker(&lock, 1001), 0u) << "that was an earlier wait";
  EXPECT_EQ(table.Waker(&other, 0), 0u);
  table.Wake(&lock, 42, 2000);
  EXPECT_EQ(table.Waker(&lock, 900), 42u) << "the last one";
}

TEST(WakeTable, AnObjectMayTakeThePlaceOfAnother) {
  static WakeTable table = {};
  std::vector<int> objects(20'000);
  uint32_t tid = 1;
  for (const int& object : objects) table.Wake(&object, tid++, 5);
  uint32_t right = 0;
  tid = 1;
  for (const int& object : objects) {
    const uint32_t waker = table.Waker(&object, 0);
    EXPECT_TRUE(waker == 0 || waker == tid);
    right += waker == tid++ ? 1 : 0;
  }
  EXPECT_GT(right, 0u);
}

}  // namespace
}  // namespace batchlight::inject::osrt
