#include "base/status.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return InputError("odd number " + std::to_string(n));
  return n / 2;
}

Status Quarter(int n, int* out) {
  ASSIGN_OR_RETURN(const int half, Half(n));
  ASSIGN_OR_RETURN(*out, Half(half));
  return {};
}

TEST(Status, ErrorsTravelUpWithContext) {
  int out = 0;
  EXPECT_TRUE(Quarter(8, &out).ok());
  EXPECT_EQ(out, 2);
  const Status status = Quarter(6, &out).WithContext("quartering 6");
  EXPECT_EQ(status.message(), "quartering 6: odd number 3");
  EXPECT_EQ(status.exit_code(), 3);
}

TEST(Status, ContextLeavesAFineStatusAlone) { EXPECT_TRUE(Status().WithContext("anything").ok()); }

}  // namespace
}  // namespace batchlight
