#include "analysis/phases/gradient_waits.h"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/testing/store_builder.h"

namespace batchlight {
namespace {

constexpr int64_t kUs = 1000;

std::vector<TimeSpan> Communication(const Store& store, ThreadId thread) {
  std::vector<TimeSpan> found;
  const PhaseMarks marks(store);
  const ThreadSpans::Rows rows = marks.RowsOf(thread);
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const PhaseMark& mark = marks.all()[row];
    if (mark.kind == PhaseKind::kCommunication) found.push_back({mark.start_ns, mark.end_ns});
  }
  return found;
}

TEST(GradientWaits, SilenceBehindACollectiveOfBackwardIsWaiting) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Phase(main, Phase::kBackward, "Tensor.backward", 0, 10'000 * kUs);
  build.Operator(main, "aten::mm", 100 * kUs, 500 * kUs);
  build.Operator(main, "aten::mm", 900 * kUs, 1'000 * kUs);  // what lies before is autograd's own
  build.Operator(main, "c10d::allreduce_", 1'000 * kUs, 1'050 * kUs);
  build.Operator(main, "aten::mm", 1'060 * kUs, 1'500 * kUs);  // backward goes on meanwhile
  build.Operator(main, "aten::copy_", 8'000 * kUs, 8'010 * kUs);
  const Store store = build.Build();
  EXPECT_EQ(Communication(store, main), (std::vector<TimeSpan>{{1'000 * kUs, 1'050 * kUs},
                                                               {1'500 * kUs, 8'000 * kUs},
                                                               {8'010 * kUs, 10'000 * kUs}}));
}

TEST(GradientWaits, WithoutACollectiveThereIsNone) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Operator(main, "c10d::broadcast_", 0, 10 * kUs);  // before the loop
  build.Phase(main, Phase::kBackward, "Tensor.backward", 100 * kUs, 10'000 * kUs);
  build.Operator(main, "aten::mm", 100 * kUs, 500 * kUs);
  const Store store = build.Build();
  EXPECT_EQ(Communication(store, main), (std::vector<TimeSpan>{{0, 10 * kUs}}));
}

// A stage of a pipeline on the CPU: it waits until the one before it has sent.
TEST(GradientWaits, SilenceBehindAReceiveIsWaiting) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Operator(main, "c10d::recv_", 0, 50 * kUs);
  build.Operator(main, "aten::mm", 4'000 * kUs, 4'100 * kUs);
  build.Operator(main, "c10d::send", 4'100 * kUs, 4'900 * kUs);
  build.Operator(main, "c10d::recv_", 5'000 * kUs, 5'010 * kUs);
  build.Phase(main, Phase::kBackward, "Tensor.backward", 7'000 * kUs, 8'000 * kUs);
  build.Operator(main, "c10d::recv_", 8'000 * kUs, 8'010 * kUs);  // is asked for beforehand
  build.Operator(main, "aten::mm", 8'040 * kUs, 9'000 * kUs);
  const Store store = build.Build();
  EXPECT_EQ(Communication(store, main), (std::vector<TimeSpan>{{0, 50 * kUs},
                                                               {50 * kUs, 4'000 * kUs},
                                                               {4'100 * kUs, 4'900 * kUs},
                                                               {5'000 * kUs, 5'010 * kUs},
                                                               {5'010 * kUs, 7'000 * kUs},
                                                               {8'000 * kUs, 8'010 * kUs}}));
}

TEST(GradientWaits, AGpusCollectivesAreItsOwn) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(1, "train.py"));
  build.Phase(main, Phase::kBackward, "Tensor.backward", 0, 10'000 * kUs);
  build.Operator(main, "c10d::allreduce_", 1'000 * kUs, 1'050 * kUs);
  build.Kernel(main, "ncclDevKernel_AllReduce", 1'010 * kUs, 2'000 * kUs, 9'000 * kUs);
  const Store store = build.Build();
  EXPECT_EQ(Communication(store, main), (std::vector<TimeSpan>{{1'000 * kUs, 1'050 * kUs}}));
}

}  // namespace
}  // namespace batchlight
