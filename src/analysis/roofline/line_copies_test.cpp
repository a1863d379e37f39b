#include "analysis/roofline/line_copies.h"

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kTrain;

class LineCopiesTest : public testing::LinesTest {
 protected:
  void CopyOperator(int64_t start_ns, int64_t end_ns, const char* inputs, PythonStackId stack) {
    Operator(main, "aten::copy_", start_ns, end_ns, stack);
    build.store().operator_calls.inputs.back() = build.Text(inputs);
  }

  std::map<uint32_t, LineCopies> Measure() {  // by line; 0: none
    store = build.Build();
    const BackwardLinks links(store);
    std::map<uint32_t, LineCopies> lines;
    for (const auto& [key, copies] : MeasureLineCopies(store, links, AttributeWork(store, links))) {
      EXPECT_TRUE(lines.emplace(key.line, copies).second);
    }
    return lines;
  }

  Store store;
};

TEST_F(LineCopiesTest, BelongToTheLineThatAskedForThem) {
  const PythonStackId line20 = Frame(kTrain, 20, script);
  Operator(main, "aten::clone", 100, 200, line10);
  CopyOperator(110, 120, "f32[8, 100], f32[8, 100], 0", {});  // inside clone
  CopyOperator(210, 220, "bf16[10], f32[10], 0", line10);
  CopyOperator(230, 240, "f32[], f32[], 0", line20);
  CopyOperator(250, 260, "", line20);  // sizes were not recorded
  Operator(main, "aten::cat", 270, 280, line20);
  build.store().operator_calls.inputs.back() = build.Text("[f32[8], f16[2, 3]], 0");
  Operator(main, "aten::add", 300, 310, line20);
  build.store().operator_calls.inputs.back() = build.Text("f32[1000], f32[1000], 1");
  build.Copy(main, CopyKind::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 4096, 305,
             400, 500);
  build.Copy(main, CopyKind::kDeviceToHost, MemoryKind::kDevice, MemoryKind::kPinned, 7, 700, 800,
             900);
  const std::map<uint32_t, LineCopies> lines = Measure();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines.at(10).tensor_bytes, 3220u);
  EXPECT_EQ(lines.at(10).gpu_bytes, 0u);
  EXPECT_EQ(lines.at(20).tensor_bytes, 48u);
  EXPECT_EQ(lines.at(20).gpu_bytes, 4096u);
  EXPECT_EQ(lines.at(0).gpu_bytes, 7u);
}

TEST_F(LineCopiesTest, WithoutStacksThereAreNone) {
  CopyOperator(10, 20, "f32[10], f32[10], 0", {});
  EXPECT_TRUE(Measure().empty());
}

}  // namespace
}  // namespace batchlight
