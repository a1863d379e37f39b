#include "analysis/ranks/call_times.h"

#include <gtest/gtest.h>

#include <limits>

namespace batchlight {
namespace {

TEST(CallTimes, AreGivenBackInTicks) {
  CallTimes times;
  const std::vector<int64_t> ns = {1'000'000'000, 1'000'000'016, 5, -5'000'000'000, 1LL << 62};
  for (const int64_t time_ns : ns) times.Append(time_ns);
  const std::vector<int64_t> back = times.Decode();
  ASSERT_EQ(back.size(), ns.size());
  for (size_t i = 0; i < ns.size(); ++i) EXPECT_EQ(back[i], ns[i] / kCallTickNs * kCallTickNs);
  CallTimes copy;
  ASSERT_TRUE(copy.Take(times.bytes(), times.size()));
  copy.Append(7);  // goes on after the last
  EXPECT_EQ(copy.Decode().back(), 0);
}

TEST(CallTimes, OfCallsEvery10MsTakeThreeBytes) {
  CallTimes times;
  for (int64_t call = 0; call < 1000; ++call) times.Append(call * 10'000'000 + call % 7 * 1000);
  EXPECT_LE(times.bytes().size(), 3000u);
}

TEST(CallTimes, BytesThatAreNoTimesAreNotTaken) {
  CallTimes times;
  EXPECT_FALSE(times.Take("\x80", 1));                   // cut
  EXPECT_FALSE(times.Take("\x02\x02", 1));               // one too many
  EXPECT_FALSE(times.Take("\x02", 2));                   // one too few
  EXPECT_FALSE(times.Take(std::string(10, '\xff'), 1));  // longer than 64 bits
  CallTimes far;
  far.Append(std::numeric_limits<int64_t>::max());
  std::string beyond(far.bytes());
  EXPECT_FALSE(times.Take(beyond + beyond, 2));
  EXPECT_TRUE(times.empty());
}

}  // namespace
}  // namespace batchlight
