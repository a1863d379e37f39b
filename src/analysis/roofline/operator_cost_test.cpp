#include "analysis/roofline/operator_cost.h"

#include <gtest/gtest.h>

#include "analysis/roofline/operator_inputs.h"

namespace batchlight {
namespace {

TEST(OperatorInputs, ReadsEveryForm) {
  const auto inputs =
      ParseOperatorInputs("f32[64, 768], [1, 1], 2, -, [f32[8], bf16[2, 3]], [], i64[]");
  ASSERT_EQ(inputs.size(), 7u);
  EXPECT_EQ(inputs[0].dtype, "f32");
  EXPECT_EQ(inputs[0].ElementCount(), 64 * 768);
  EXPECT_EQ(inputs[1].kind, OperatorInput::Kind::kIntegers);
  EXPECT_EQ(inputs[2].values, std::vector<int64_t>{2});
  EXPECT_EQ(inputs[3].kind, OperatorInput::Kind::kNone);
  ASSERT_EQ(inputs[4].elements.size(), 2u);
  EXPECT_EQ(inputs[4].ElementCount(), 14);
  EXPECT_EQ(inputs[5].kind, OperatorInput::Kind::kIntegers);
  EXPECT_EQ(inputs[6].ElementCount(), 1);  // a scalar tensor
}

TEST(OperatorInputs, NonsenseDoesNotHang) {
  for (const char* text :
       {"[", "f32[", "f32[1, 2", "[[[[[[[", "]]", ",,,", "[f32[1], ?]", "9999999999999999999"}) {
    ParseOperatorInputs(text);
  }
}

TEST(OperatorInputs, DtypesHaveTheirBytes) {
  EXPECT_EQ(DtypeBytes("f32"), 4);
  EXPECT_EQ(DtypeBytes("bf16"), 2);
  EXPECT_EQ(DtypeBytes("f8e4m3"), 1);
  EXPECT_EQ(DtypeBytes("bool"), 1);
  EXPECT_EQ(DtypeBytes("t99"), 0);
}

TEST(OperatorCost, MatrixProducts) {
  EXPECT_EQ(EstimateOperatorCost("aten::mm", "f32[4, 8], f32[8, 16]").flops, 2.0 * 4 * 8 * 16);
  EXPECT_EQ(EstimateOperatorCost("aten::addmm", "f32[16], f32[4, 8], f32[8, 16], 1, 1").flops,
            2.0 * 4 * 8 * 16);
  EXPECT_EQ(EstimateOperatorCost("aten::bmm", "f16[3, 4, 8], f16[3, 8, 16]").flops,
            2.0 * 3 * 4 * 8 * 16);
  EXPECT_EQ(EstimateOperatorCost("aten::linear", "f32[2, 4, 8], f32[16, 8], f32[16]").flops,
            2.0 * 2 * 4 * 8 * 16);
  const OperatorCost cost = EstimateOperatorCost("aten::mm", "f16[4, 8], f16[8, 16]");
  EXPECT_EQ(cost.bytes, 2.0 * (4 * 8 + 8 * 16 + 4 * 16));
  EXPECT_TRUE(cost.matrix);
}

TEST(OperatorCost, ConvolutionUsesItsStride) {
  // 224 -> 112 with kernel 7, stride 2, padding 3.
  const OperatorCost cost = EstimateOperatorCost(
      "aten::convolution",
      "f32[8, 3, 224, 224], f32[64, 3, 7, 7], -, [2, 2], [3, 3], [1, 1], 0, [0, 0], 1");
  EXPECT_EQ(cost.flops, 2.0 * 8 * 112 * 112 * 64 * 3 * 7 * 7);
}

TEST(OperatorCost, ConvolutionBackwardIsTwiceTheForward) {
  const OperatorCost cost = EstimateOperatorCost(
      "aten::convolution_backward", "f32[8, 64, 112, 112], f32[8, 3, 224, 224], f32[64, 3, 7, 7]");
  EXPECT_EQ(cost.flops, 2 * 2.0 * 8 * 112 * 112 * 64 * 3 * 7 * 7);
}

TEST(OperatorCost, AttentionForwardAndBackward) {
  const char* qkv = "bf16[2, 4, 128, 64], bf16[2, 4, 128, 64], bf16[2, 4, 128, 64]";
  EXPECT_EQ(EstimateOperatorCost("aten::_scaled_dot_product_flash_attention", qkv).flops,
            4.0 * 2 * 4 * 128 * 128 * 64);
  EXPECT_EQ(EstimateOperatorCost("aten::_scaled_dot_product_flash_attention_backward",
                                 std::string("bf16[2, 4, 128, 64], ") + qkv)
                .flops,
            10.0 * 2 * 4 * 128 * 128 * 64);
}

TEST(OperatorCost, UnknownOperatorsAndMissingInputsAreNotKnown) {
  EXPECT_FALSE(EstimateOperatorCost("aten::mystery", "f32[4]").known);
  EXPECT_FALSE(EstimateOperatorCost("aten::mm", "").known);
  EXPECT_FALSE(EstimateOperatorCost("aten::mm", "-, -").known);
}

}  // namespace
}  // namespace batchlight
