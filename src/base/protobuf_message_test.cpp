#include "base/protobuf_message.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

using std::string_literals::operator""s;

TEST(ProtobufMessageTest, WritesEveryWireType) {
  EXPECT_EQ(ProtobufMessage().Number(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(ProtobufMessage().Fixed64(2, 5).bytes(), "\x11\x05\0\0\0\0\0\0\0"s);
  EXPECT_EQ(ProtobufMessage().Double(2, 1.0).bytes(), "\x11\0\0\0\0\0\0\xf0\x3f"s);
  EXPECT_EQ(ProtobufMessage().Float(2, 1.0f).bytes(), "\x15\0\0\x80\x3f"s);
  EXPECT_EQ(ProtobufMessage().Bytes(3, "ab").bytes(),
            "\x1a\x02"
            "ab");
}

TEST(ProtobufMessageTest, NumbersTakeUpToTenBytes) {
  EXPECT_EQ(ProtobufMessage().Number(1, UINT64_MAX).bytes(),
            "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ProtobufMessageTest, MessagesNestAndAreAppended) {
  const ProtobufMessage inner = ProtobufMessage().Number(1, 7);
  EXPECT_EQ(ProtobufMessage().Message(4, inner).bytes(), "\x22\x02\x08\x07");
  EXPECT_EQ(ProtobufMessage().Number(2, 1).Append(inner).bytes(), "\x10\x01\x08\x07");
}

}  // namespace
}  // namespace batchlight
