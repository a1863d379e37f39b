#include "nsys/payload.h"

#include <gtest/gtest.h>

namespace batchlight::nsys {
namespace {

// As nsys 2025.3 wrote it for NCCL's ncclAllGather: schema 0x1000004, 16 bytes.
constexpr std::string_view kAllGather(
    "\x01\0\0\0\0\0\0\0\x04\0\0\x01\0\0\0\0\x10\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0"
    "\x1D\x7C\xD3\x57\x58\xF1\xB0\xC3\x08\0\0\0\0\0\0\0",
    48);

TEST(PayloadTest, OfARealEvent) {
  const auto payloads = UnpackPayloads(kAllGather);
  ASSERT_EQ(payloads.size(), 1u);
  EXPECT_EQ(payloads[0].schema_id, 0x1000004u);
  EXPECT_EQ(payloads[0].bytes, kAllGather.substr(32));
  EXPECT_EQ(PackPayloads(payloads), kAllGather);
}

TEST(PayloadTest, Several) {
  const std::string data = PackPayloads({{7, "abc"}, {9, ""}, {8, "defg"}});
  const auto payloads = UnpackPayloads(data);
  ASSERT_EQ(payloads.size(), 3u);
  EXPECT_EQ(payloads[0].bytes, "abc");
  EXPECT_EQ(payloads[1].bytes, "");
  EXPECT_EQ(payloads[2].bytes, "defg");
}

TEST(PayloadTest, BytesOfAnotherFormAreNone) {
  EXPECT_TRUE(UnpackPayloads("").empty());
  EXPECT_TRUE(UnpackPayloads("short").empty());
  for (size_t size = 0; size < kAllGather.size(); ++size) {
    EXPECT_TRUE(UnpackPayloads(kAllGather.substr(0, size)).empty()) << size;
  }
  for (const size_t place : {0, 8 + 8, 8 + 16}) {  // count, size, place
    std::string wrong(kAllGather);
    wrong[place + 7] = '\x7f';
    EXPECT_TRUE(UnpackPayloads(wrong).empty()) << place;
  }
}

}  // namespace
}  // namespace batchlight::nsys
