#include "inject/nvtx/operator_range.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "inject/nvtx/ranges.h"
#include "inject/testing/read_process.h"

namespace batchlight::inject::nvtx {
namespace {

using format::RecordKind;

struct Case {
  const char* text;
  const char* name;  // "" = no operator
  int64_t sequence;
  uint32_t scope;
};

TEST(OperatorRange, ReadsTexts) {
  const Case cases[] = {
      {"aten::addmm, seq = 11, op_id = 401", "aten::addmm", 11, 0},
      {"aten::empty, op_id = 3", "aten::empty", -1, 0},
      {"AddmmBackward0, seq = 7, op_id = 9", "AddmmBackward0", 7, 1},
      {"autograd::engine::evaluate_function: X, op_id = 9",
       "autograd::engine::evaluate_function: X", -1, 1},
      {"Optimizer.step#AdamW.step, op_id = 1582", "Optimizer.step#AdamW.step", -1, 7},
      {"forward", "", -1, 0},
      {", seq = 1", "", 1, 7},
      {"", "", -1, 0},
  };
  for (const Case& wanted : cases) {
    const OperatorText found = ReadOperatorText(wanted.text);
    EXPECT_EQ(std::string(wanted.text, found.name_bytes), wanted.name);
    EXPECT_EQ(found.sequence, wanted.sequence) << wanted.text;
    EXPECT_EQ(found.scope, wanted.scope) << wanted.text;
  }
}

TEST(OperatorRange, NestsWithRanges) {
  g_operator_ranges = true;
  uint32_t index = 0;
  std::thread([&] {
    EXPECT_EQ(PushText("step"), 0);
    EXPECT_EQ(PushText("aten::linear, seq = 5, op_id = 1"), 1);
    EXPECT_EQ(PushText("inside"), 2);
    EXPECT_EQ(PopDefault(), 2);
    EXPECT_EQ(Pop(nullptr, nullptr, 0), 1);
    EXPECT_EQ(PopDefault(), 0);
    index = t_thread.index_plus_1 - 1;
  }).join();
  g_operator_ranges = false;
  const ReadChunk chunk = ReadThisProcess(index).at(0);
  std::string order;
  for (const ReadRecord& record : chunk.records) {
    if (record.kind == RecordKind::kRangePush) order += '(';
    if (record.kind == RecordKind::kRangePop) order += ')';
    if (record.kind == RecordKind::kOpEnd) order += ']';
    if (record.kind != RecordKind::kOpBegin) continue;
    order += '[';
    const auto op = record.As<format::OpBeginRecord>();
    EXPECT_EQ(chunk.strings.at(op.name), "aten::linear");
    EXPECT_EQ(op.sequence, 5);
  }
  EXPECT_EQ(order, "([()])");
}

}  // namespace
}  // namespace batchlight::inject::nvtx
