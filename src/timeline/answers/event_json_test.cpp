#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/testing/store_builder.h"
#include "timeline/answers/links.h"
#include "timeline/answers/run_json.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

// It began in step 17 and was told of step 16, as the look before the first that saw it was there.
TEST(EventDetails, ASampledCallIsOfTheStepInWhichItWasSeen) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  for (int64_t step = 0; step < 10; ++step) {
    build.Range(main, "step", step * 100 * kMs, (step + 1) * 100 * kMs);
  }
  Store& store = build.store();
  store.python_frames.Append({.file = store.strings.Intern("train.py"),
                              .function = store.strings.Intern("nap"),
                              .first_line = 7,
                              .line = 8});
  store.python_stacks.Append({.frame = PythonFrameId::At(0)});
  store.python_samples.Append({.start_ns = 498 * kMs,
                               .end_ns = 590 * kMs,
                               .thread = main,
                               .python_stack = PythonStackId::At(0),
                               .samples = 9});
  const Store built = build.Build();
  const auto timeline = BuildTimeline(built);
  const Links links(*timeline);
  const auto track = std::find_if(timeline->tracks().begin(), timeline->tracks().end(),
                                  [](const Track& one) { return one.kind == TrackKind::kPython; });
  ASSERT_NE(track, timeline->tracks().end());
  const nlohmann::json nap = EventDetails(*timeline, links, track->rows[0].refs()[0]);
  EXPECT_NEAR(nap["from"].get<double>(), 503.1 * kMs, 0.1 * kMs);  // between two looks
  EXPECT_EQ(nap["fields"][0]["value"], 9);
  EXPECT_EQ(nap["fields"][2]["value"], 8);
  EXPECT_EQ(nap["step"]["from"], 500 * kMs) << nap["step"];
}

}  // namespace
}  // namespace batchlight::timeline
