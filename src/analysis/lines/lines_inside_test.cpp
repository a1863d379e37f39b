#include "analysis/lines/lines_inside.h"

#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kModule;
using testing::kTrain;

constexpr char kModel[] = "/v/lib/python3.11/site-packages/transformers/models/gpt2/modeling.py";

using LinesInsideTest = testing::LinesTest;

TEST_F(LinesInsideTest, LinesOfThePackageBelowTheLineThatCallsIt) {
  const PythonStackId call = Frame(kTrain, 10, script);
  const PythonStackId attention = Frame(kModule, 500, Frame(kModel, 70, call));
  const PythonStackId mlp = Frame(kModule, 500, Frame(kModel, 90, call));
  Operator(main, "aten::linear", 100, 200, attention);
  Operator(main, "aten::addmm", 110, 190, {}, 5);
  build.Kernel(main, "gemm", 150, 1000, 1300);
  Operator(main, "aten::gelu", 200, 230, mlp);
  build.Kernel(main, "gelu", 210, 1300, 1310);
  Operator(main, "aten::sum", 240, 250, Frame(kTrain, 11, script));  // calls by itself
  Operator(main, "aten::mul", 260, 270, Frame(kModule, 500, Frame(kTrain, 12, script)));
  Operator(autograd, "AddmmBackward0", 310, 390, {}, 5, 1, OperatorScope::kBackward);
  build.Kernel(autograd, "gemm_backward", 350, 1400, 2000);
  const Store store = build.Build();
  const BackwardLinks links(store);
  const auto rows =
      MeasureLinesInside(store, MeasureStacks(store, links, AttributeWork(store, links)));
  ASSERT_EQ(rows.size(), 3u);
  const auto line = [&](PythonFrameId frame) { return store.python_frames.line[frame.row()]; };
  EXPECT_EQ(line(rows[0].line), 10u);
  EXPECT_EQ(line(rows[0].inside), 70u);
  EXPECT_EQ(rows[0].calls, 1u);
  EXPECT_EQ(rows[0].gpu_forward_ns, 300);
  EXPECT_EQ(rows[0].gpu_backward_ns, 600);
  EXPECT_EQ(rows[0].cpu_ns, 180);
  EXPECT_EQ(line(rows[1].inside), 90u);
  EXPECT_EQ(rows[1].gpu_forward_ns, 10);
  EXPECT_EQ(line(rows[2].line), 12u);  // of PyTorch's own, as there is no other
  EXPECT_EQ(line(rows[2].inside), 500u);
}

}  // namespace
}  // namespace batchlight
