#include "timeline/answers/near_names.h"

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

TEST(NearNames, AreOfEventsAndOfTheirOwnParts) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Operator(main, "aten::linear", 0, 50);
  build.Operator(main, "aten::gelu", 60, 70);
  build.Operator(main, "optimizer step", 80, 190);
  build.Operator(main, "loop.py:7(update_stats)", 200, 201);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  EXPECT_TRUE(HasName(*timeline, "LINE"));
  EXPECT_FALSE(HasName(*timeline, "linaer"));
  EXPECT_FALSE(HasName(*timeline, "train.py")) << "a process is no event";
  EXPECT_EQ(NearNamesText(*timeline, "linaer"), "; did you mean linear?");
  EXPECT_EQ(NearNamesText(*timeline, "aten::linera"), "; did you mean aten::linear or aten::gelu?");
  EXPECT_EQ(NearNamesText(*timeline, "updat_stats"), "; did you mean update_stats?");
  EXPECT_EQ(NearNamesText(*timeline, "zzzzzzz"),
            "; the names with most time are \"optimizer step\", \"aten::linear\" and "
            "\"aten::gelu\"");
  const Store empty = testing::StoreBuilder().Build();
  EXPECT_EQ(NearNamesText(*BuildTimeline(empty, {.derived = false}), "x"), "");
}

}  // namespace
}  // namespace batchlight::timeline
