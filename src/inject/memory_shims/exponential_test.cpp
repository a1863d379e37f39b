#include "inject/memory_shims/exponential.h"

#include <gtest/gtest.h>

#include <cmath>

namespace batchlight::inject::memory {
namespace {

TEST(Exponential, LogarithmIsThatOfTheLibrary) {
  for (const double x : {0x1p-53, 1e-9, 0.1, 0.5, 0.70710678, 0.7071068, 0.99, 1.0, 1.5, 1e9}) {
    EXPECT_NEAR(Logarithm(x), std::log(x), 1e-7) << x;
  }
}

TEST(Exponential, HasTheMeanAndTheShareBelowIt) {
  uint64_t state = 42;
  constexpr int kDraws = 200'000;
  double sum = 0;
  int below = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = Exponential(state, 1000);
    ASSERT_GE(drawn, 0);
    sum += drawn;
    below += drawn < 1000 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 1000, 12);
  EXPECT_NEAR(static_cast<double>(below) / kDraws, 1 - std::exp(-1), 0.006);
}

}  // namespace
}  // namespace batchlight::inject::memory
