#include "ingest/common/emit_nvtx.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(EmitNvtx, ReadsEveryForm) {
  const EmitNvtxText full = ParseEmitNvtx(
      "aten::addmm, seq = 11, op_id = 401, sizes = [[64, 2, 768], []], input_op_ids = [(373,0)]");
  EXPECT_TRUE(full.is_operator);
  EXPECT_EQ(full.name, "aten::addmm");
  EXPECT_EQ(full.sequence, 11);
  EXPECT_EQ(full.sizes, "[[64, 2, 768], []]");
  EXPECT_EQ(ParseEmitNvtx("aten::view, op_id = 314290").sequence, -1);
  EXPECT_EQ(ParseEmitNvtx("AddmmBackward0, seq = 5").sequence, 5);
  EXPECT_FALSE(ParseEmitNvtx("forward").is_operator);
  EXPECT_FALSE(ParseEmitNvtx("epoch, seq = x").is_operator);
  EXPECT_FALSE(ParseEmitNvtx(", seq = 5").is_operator);
  EXPECT_FALSE(ParseEmitNvtx("").is_operator);
}

TEST(EmitNvtx, SizesBecomeUntypedInputs) {
  Store store;
  store.nvtx_ranges.Append(
      {.end_ns = 10,
       .thread = ThreadId::At(0),
       .message = store.strings.Intern(
           "aten::addmm, op_id = 1, sizes = [[16], [4, 8], [8, 16], [], [[2, 3], [4]]]")});
  OperatorsFromRanges(store);
  EXPECT_EQ(store.Text(store.operator_calls.inputs[0]),
            "t[16], t[4, 8], t[8, 16], -, [t[2, 3], t[4]]");
}

TEST(EmitNvtx, OperatorsNestAsTheirRangesDo) {
  Store store;
  const auto add = [&](const char* text, int64_t start_ns, int64_t end_ns, uint32_t thread) {
    store.nvtx_ranges.Append({.start_ns = start_ns,
                              .end_ns = end_ns,
                              .thread = ThreadId::At(thread),
                              .message = store.strings.Intern(text)});
  };
  add("forward", 0, 100, 0);
  add("aten::linear, seq = 3, op_id = 1", 10, 50, 0);
  add("aten::addmm, seq = 3, op_id = 2", 20, 40, 0);
  add("aten::relu, op_id = 3", 60, 70, 0);
  add("AddmmBackward0, seq = 3, op_id = 4", 30, 90, 1);
  OperatorsFromRanges(store);
  const OperatorCallsTable& calls = store.operator_calls;
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_TRUE(calls.parent[0].IsNone());
  EXPECT_EQ(calls.parent[1].value, 0u);
  EXPECT_EQ(calls.depth[1], 1);
  EXPECT_TRUE(calls.parent[2].IsNone());
  EXPECT_EQ(calls.scope[3], OperatorScope::kBackward);
  EXPECT_TRUE(calls.parent[3].IsNone());
  EXPECT_EQ(store.Text(calls.name[1]), "aten::addmm");
}

}  // namespace
}  // namespace batchlight
