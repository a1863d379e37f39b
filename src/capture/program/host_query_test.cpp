#include "capture/program/host_query.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

TEST(ReadPrintedLines, KeepsOrderAndWhatFollowsTheFirstEqualsSign) {
  const PrintedLines lines = ReadPrintedLines("gpu=0: A=B\nnoise\ngpu=1: C\nempty=\n");
  EXPECT_EQ(lines, (PrintedLines{{"gpu", "0: A=B"}, {"gpu", "1: C"}, {"empty", ""}}));
  EXPECT_EQ(FirstValue(lines, "gpu"), "0: A=B");
  EXPECT_EQ(FirstValue(lines, "missing"), "");
}

}  // namespace
}  // namespace batchlight::capture
