#include "analysis/numbers/looks_in_a_row.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(LooksInARow, GoOnWhereTheOneBeforeEnds) {
  LooksInARow looks;
  EXPECT_EQ(looks.longest(), TimeSpan{});
  EXPECT_EQ(looks.Add({0, 10}), TimeSpan{});
  EXPECT_EQ(looks.Add({10, 20}), TimeSpan{});
  EXPECT_EQ(looks.Add({20, 20}), TimeSpan{});  // stands for nothing
  EXPECT_EQ(looks.Add({19, 25}), TimeSpan{});  // a clock may be off
  EXPECT_EQ(looks.longest(), (TimeSpan{0, 25}));
  EXPECT_EQ(looks.Add({26, 30}), (TimeSpan{0, 25}));
  EXPECT_EQ(looks.longest(), (TimeSpan{0, 25}));
  EXPECT_EQ(looks.Add({30, 60}), TimeSpan{});
  EXPECT_EQ(looks.longest(), (TimeSpan{26, 60}));
}

TEST(LooksInARow, NothingGoesOnAcrossAnEnd) {
  LooksInARow looks;
  looks.Add({0, 10});
  EXPECT_EQ(looks.End(), (TimeSpan{0, 10}));
  EXPECT_EQ(looks.End(), TimeSpan{});
  EXPECT_EQ(looks.Add({10, 15}), TimeSpan{});
  EXPECT_EQ(looks.longest(), (TimeSpan{0, 10}));
}

}  // namespace
}  // namespace batchlight
