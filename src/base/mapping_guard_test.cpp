#include "base/mapping_guard.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"

namespace batchlight {
namespace {

TEST(MappingGuard, WhatIsCutAwayReadsAsZeros) {
  char path[] = "/tmp/bl_guard_XXXXXX";
  close(mkstemp(path));
  ASSERT_TRUE(WriteWholeFile(path, std::string(100'000, 'x')).ok());
  const MappedFile file = MappedFile::Open(path).value();
  GuardMappings();
  ASSERT_EQ(truncate(path, 10), 0);
  unlink(path);
  EXPECT_EQ(file.text()[9], 'x');
  EXPECT_EQ(file.text()[99'999], '\0');
  EXPECT_GE(PagesCutAway(), 1u);
}

}  // namespace
}  // namespace batchlight
