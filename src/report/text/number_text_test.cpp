#include "report/text/number_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace batchlight {
namespace {

TEST(NumberTextTest, TimesHaveThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(TimeText(0), "0 ns");
  EXPECT_EQ(TimeText(7), "7.00 ns");
  EXPECT_EQ(TimeText(1234), "1.23 µs");
  EXPECT_EQ(TimeText(24'312'000), "24.3 ms");
  EXPECT_EQ(TimeText(999'970'000), "1.00 s");
  EXPECT_EQ(TimeText(3600e9), "3,600 s");
  EXPECT_EQ(TimeText(-1500), "-1.50 µs");
}

TEST(NumberTextTest, GroupsThousands) {
  EXPECT_EQ(CountText(0), "0");
  EXPECT_EQ(CountText(999), "999");
  EXPECT_EQ(CountText(1234567), "1,234,567");
  EXPECT_EQ(FixedText(-1234.5, 2), "-1,234.50");
  EXPECT_EQ(FixedText(-123, 0), "-123");
  EXPECT_EQ(FixedText(std::numeric_limits<double>::infinity(), 2), "inf");
}

TEST(NumberTextTest, BytesCountInPowersOfTwo) {
  EXPECT_EQ(BytesText(512), "512 B");
  EXPECT_EQ(BytesText(64.0 * 1024 * 1024), "64.0 MiB");
  EXPECT_EQ(DecimalBytesText(64.0 * 1024 * 1024), "67.1 MB");
  EXPECT_EQ(ByteRateText(3.177e9), "3.18 GB/s");
  EXPECT_EQ(ByteRateText(204.8e6), "205 MB/s");
  EXPECT_EQ(ByteRateText(999.9e3), "1.00 MB/s");
  EXPECT_EQ(ByteRateText(12), "12.0 B/s");
}

TEST(NumberTextTest, PercentAndDecimals) {
  EXPECT_EQ(PercentText(0.2534), "25.3 %");
  EXPECT_EQ(DecimalsFor(6.2, 4), 3);
  EXPECT_EQ(DecimalsFor(6200, 4), 0);
  EXPECT_EQ(DecimalsFor(0, 4), 0);
  EXPECT_EQ(SignificantText(0.0412), "0.0412");
}

}  // namespace
}  // namespace batchlight
