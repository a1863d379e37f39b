#include "ingest/common/shapes_text.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(ShapesText, PrintsBothForms) {
  std::string binary;
  ASSERT_TRUE(InputsFromText("f32[64, 2, 768], [1, 1], 2, -, [f32[8], bf16[]], t99[3]", &binary));
  EXPECT_EQ(InputsText(binary), "f32[64, 2, 768], [1, 1], 2, -, [f32[8], bf16[]], t99[3]");
  EXPECT_EQ(ShapesText(binary), "[[64, 2, 768], [], [], [], [[8], []], [3]]");
}

TEST(ShapesText, EmptyListsAndNegativeNumbers) {
  std::string binary;
  ASSERT_TRUE(InputsFromText("[], -1, [-1, 2]", &binary));
  EXPECT_EQ(InputsText(binary), "[], -1, [-1, 2]");
  EXPECT_EQ(InputsText(""), "");
  EXPECT_EQ(ShapesText(""), "[]");
}

TEST(ShapesText, BytesThatEndEarlyGiveWholeInputs) {
  std::string binary;
  ASSERT_TRUE(InputsFromText("f32[2], [f32[8], -], 5", &binary));
  for (size_t size = 0; size <= binary.size(); ++size) {
    const std::string text = InputsText(std::string_view(binary).substr(0, size));
    EXPECT_EQ(std::string("f32[2], [f32[8], -], 5").substr(0, text.size()), text);
  }
}

TEST(ShapesText, RefusesWhatItDoesNotPrint) {
  std::string binary;
  for (const char* text : {"f32", "f32[", "f32[1", "x[1]", "[1, f32[2]]", "1,", "f32[1] f32[2]"}) {
    EXPECT_FALSE(InputsFromText(text, &binary)) << text;
  }
}

}  // namespace
}  // namespace batchlight
