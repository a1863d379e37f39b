#include "inject/stacks/stack_table.h"

#include <gtest/gtest.h>

#include <memory>

namespace batchlight::inject::stacks {
namespace {

TEST(HashTable, StartsOverWhenItIsFull) {
  auto table = std::make_unique<HashTable<16>>();
  for (uint32_t id = 1; id <= 12; ++id) table->Insert(id * 16, id);  // all in one place
  for (uint32_t id = 1; id <= 12; ++id) EXPECT_EQ(table->Find(id * 16), id);
  EXPECT_EQ(table->Find(13 * 16), 0u);
  table->Insert(13 * 16, 13);
  EXPECT_EQ(table->Find(13 * 16), 13u);
  EXPECT_EQ(table->Find(16), 0u);
  table->Clear();
  EXPECT_EQ(table->Find(13 * 16), 0u);
}

}  // namespace
}  // namespace batchlight::inject::stacks
