#include "analysis/gpu/line_gaps.h"

#include "analysis/owners/backward_links.h"
#include "analysis/testing/lines_test.h"

namespace batchlight {
namespace {

using testing::kTrain;

constexpr int64_t kUs = 1000;

class LineGapsTest : public testing::LinesTest {
 protected:
  // A kernel that is launched in an operator of the line.
  void Kernel(PythonStackId stack, int64_t call_us, int64_t start_us, int64_t end_us) {
    Operator(main, "aten::mul", (call_us - 1) * kUs, (call_us + 6) * kUs, stack);
    build.Kernel(main, "mul", call_us * kUs, start_us * kUs, end_us * kUs);
    build.store().api_calls.end_ns.back() = (call_us + 5) * kUs;
  }
  void Sample(PythonStackId stack, int64_t start_us, int64_t end_us) {
    build.store().python_samples.Append({.start_ns = start_us * kUs,
                                         .end_ns = end_us * kUs,
                                         .thread = main,
                                         .python_stack = stack});
  }

  std::map<uint32_t, LineGap> Measure() {  // by line, in us; 0: none is known
    store = build.Build();
    std::map<uint32_t, LineGap> lines;
    for (auto [key, gap] : MeasureLineGaps(StepInputs(store), BackwardLinks(store))) {
      gap.idle_ns /= kUs;
      gap.wait_ns /= kUs;
      EXPECT_TRUE(lines.emplace(key.line, gap).second);
    }
    return lines;
  }

  const PythonStackId line20 = Frame(kTrain, 20, script);
  const PythonStackId line30 = Frame(kTrain, 30, script);
  Store store;
};

TEST_F(LineGapsTest, AWaitIsOfItsLineAndSoIsTheIdleTimeThatFollows) {
  Kernel(line10, 100, 110, 300);
  // line 20 waits until 310 and its operator goes on until 400; line 30 launches at 500.
  Operator(main, "aten::item", 200 * kUs, 400 * kUs, line20);
  build.ApiCall(main, "cudaStreamSynchronize", 210 * kUs, 310 * kUs);
  Kernel(line30, 500, 510, 600);
  const std::map<uint32_t, LineGap> lines = Measure();
  EXPECT_EQ(lines.at(20).wait_ns, 100);
  EXPECT_EQ(lines.at(20).idle_ns, 100);  // 300 to 400
  EXPECT_EQ(lines.at(30).idle_ns, 110);  // no Python is known until it launches
  EXPECT_EQ(lines.at(30).wait_ns, 0);
  EXPECT_FALSE(lines.contains(10));
}

TEST_F(LineGapsTest, SamplesSayWhichLineRanBetweenOperators) {
  Kernel(line10, 100, 110, 300);
  Sample(line20, 250, 450);
  Kernel(line30, 500, 510, 600);
  const std::map<uint32_t, LineGap> lines = Measure();
  EXPECT_GE(lines.at(20).idle_ns, 150);  // from 300 on, until the next call at the latest
  EXPECT_EQ(lines.at(20).idle_ns + lines.at(30).idle_ns, 210);
}

TEST_F(LineGapsTest, WorkThatWasQueuedInTimeIsNobodysFault) {
  Kernel(line10, 100, 110, 300);
  Kernel(line30, 150, 303, 600);
  EXPECT_TRUE(Measure().empty());
}

TEST_F(LineGapsTest, WithoutStacksThereAreNone) {
  Kernel({}, 100, 110, 300);
  Kernel({}, 500, 510, 600);
  EXPECT_TRUE(Measure().empty());
}

}  // namespace
}  // namespace batchlight
