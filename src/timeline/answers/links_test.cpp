#include "timeline/answers/links.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

// Two forwards, whose functions run in the opposite order on autograd's thread.
TEST(BackwardLinksOfEvents, GoFromAForwardOperatorToItsBackwardAndBack) {
  StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId autograd = build.Thread(process);
  build.Operator(main, "aten::mm", 0, 50, 7);
  build.Operator(main, "aten::relu", 60, 80, 8);
  build.Operator(main, "aten::zeros", 82, 84);
  build.Operator(autograd, "ReluBackward0", 100, 120, 8, 1, OperatorScope::kBackward);
  build.Operator(autograd, "MmBackward0", 130, 190, 7, 1, OperatorScope::kBackward);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  const Links links(*timeline);
  const EventTable& operators = *timeline->events().TableWithKey("operator_calls");
  const auto ref_of = [&](std::string_view name) {
    uint32_t row = 0;
    while (store.Text(store.operator_calls.name[row]) != name) ++row;
    return operators.first_ref + row;
  };
  for (const auto& [forward, backward] :
       {std::pair{"aten::mm", "MmBackward0"}, {"aten::relu", "ReluBackward0"}}) {
    for (const char* from : {forward, backward}) {
      const std::vector<EventLink> found = links.Of(ref_of(from), 10);
      ASSERT_EQ(found.size(), 1u) << from;
      EXPECT_EQ(found[0].kind, "backward");
      EXPECT_EQ(found[0].from, ref_of(forward));
      EXPECT_EQ(found[0].to, ref_of(backward));
    }
  }
  EXPECT_TRUE(links.Of(ref_of("aten::zeros"), 10).empty());
}

}  // namespace
}  // namespace batchlight::timeline
