#include "timeline/answers/viewport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <random>

#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "timeline/answers/view_text.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

Store SmallRun() {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Range(main, "step", 0, 1000);
  build.Operator(main, "aten::linear", 100, 400);
  build.Operator(main, "aten::addmm", 150, 350);
  for (int i = 0; i < 10; ++i) build.Operator(main, "aten::add", 500 + i * 10, 504 + i * 10);
  build.Kernel(main, "gemm", 200, 450, 700);
  build.Kernel(main, "gemm", 210, 600, 800, 9);
  return build.Build();
}

std::vector<RowRange> AllRows(const Timeline& timeline) {
  std::vector<RowRange> rows;
  for (uint32_t track = 0; track < timeline.tracks().size(); ++track) {
    rows.push_back({track, 0, UINT32_MAX});
  }
  return rows;
}

TEST(Viewport, AnswersAsTheGoldenFileSays) {
  Store store = SmallRun();
  for (const int64_t at_ns : {50, 300, 305, 600}) {
    store.gpu_memory_events.Append({.start_ns = at_ns,
                                    .process = ProcessId::At(0),
                                    .address = static_cast<uint64_t>(at_ns),
                                    .bytes = 4096,
                                    .memory_kind = MemoryKind::kDevice,
                                    .operation = MemoryOperation::kAllocation});
  }
  const auto timeline = BuildTimeline(store);
  const auto is_counter = [&](uint32_t track) { return !timeline->tracks()[track].series.empty(); };
  const std::string bytes = AnswerView(
      *timeline,
      {.from_ns = 100, .to_ns = 900, .step_ns = 16, .rows = AllRows(*timeline), .generation = 3});
  const std::string golden = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/golden/timeline_view";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteWholeFile(golden + ".bin", bytes).ok());
    ASSERT_TRUE(WriteWholeFile(golden + ".txt", ViewText(bytes, is_counter)).ok());
  }
  const auto expected = ReadWholeFile(golden + ".bin");
  const auto text = ReadWholeFile(golden + ".txt");
  ASSERT_TRUE(expected.ok() && text.ok());
  EXPECT_EQ(ViewText(bytes, is_counter), text.value());
  EXPECT_EQ(bytes, expected.value());
}

// All events of a row are in exactly one item each, at every zoom, whatever the kind of the track.
TEST(Viewport, HoldsEveryEventOnceAtEveryZoom) {
  const Store store = testing::MakeSampleRun({.steps = 12, .gpu = true});
  const auto timeline = BuildTimeline(store);
  uint64_t events = 0;
  for (const Track& track : timeline->tracks()) {
    for (const EventRow& row : track.rows) events += row.refs().size();
  }
  const int64_t end_ns = timeline->events().run_end_ns();
  for (int64_t step_ns = 1; step_ns < 4 * end_ns; step_ns *= 8) {
    const std::string bytes = AnswerView(*timeline,
                                         {.from_ns = timeline->events().run_start_ns(),
                                          .to_ns = end_ns + 1,
                                          .step_ns = step_ns,
                                          .rows = AllRows(*timeline)},
                                         size_t{1} << 30);
    EXPECT_EQ(DecodeView(bytes).TotalCount(), events) << step_ns;
  }
}

TEST(Viewport, KeepsAnswersShort) {
  const Store store = testing::MakeSampleRun({.steps = 40, .gpu = true});
  const auto timeline = BuildTimeline(store);
  for (const size_t most : {300, 2000, 20'000}) {
    const std::string bytes = AnswerView(*timeline,
                                         {.from_ns = timeline->events().run_start_ns(),
                                          .to_ns = timeline->events().run_end_ns(),
                                          .step_ns = 1,
                                          .rows = AllRows(*timeline)},
                                         most);
    const DecodedView view = DecodeView(bytes);
    EXPECT_TRUE(view.fine);
    EXPECT_TRUE(view.changed);
    EXPECT_LE(view.start.size(), std::max(most / 22, 4 * view.rows.size()));
  }
}

// Four threads full of events, then threads with as many that lie within a few steps, or in bursts
// with pauses: what the first ones hold says nothing of the others.
TEST(Viewport, IsNotShortenedForWhatItsFirstRowsHold) {
  constexpr int64_t kStepNs = 1024;
  for (const int64_t pause : {0, 128}) {
    StoreBuilder build;
    const ProcessId process = build.Process(100, "train.py");
    for (int i = 0; i < 60; ++i) {
      const ThreadId thread = build.Thread(process);
      for (int64_t event = 0; event < 2048; ++event) {
        const int64_t at =
            i < 4 ? event * kStepNs : event % 128 * 4 + event / 128 * (pause * kStepNs + 512);
        build.Operator(thread, "aten::add", at, at + 2);
      }
    }
    const Store store = build.Build();
    const auto timeline = BuildTimeline(store, {.derived = false});
    ViewRequest request{
        .from_ns = 0, .to_ns = 2048 * kStepNs, .step_ns = kStepNs, .rows = AllRows(*timeline)};
    const std::string whole = AnswerView(*timeline, request, size_t{1} << 30);
    const std::string bytes = AnswerView(*timeline, request, whole.size());
    EXPECT_FALSE(DecodeView(bytes).changed) << pause;
    EXPECT_EQ(bytes, whole) << pause;
  }
}

TEST(Viewport, TakesAnyRequest) {
  const Store store = SmallRun();
  const auto timeline = BuildTimeline(store);
  std::mt19937_64 random(11);
  const int64_t edges[] = {INT64_MIN / 4, -1, 0, 1, 999, INT64_MAX / 4};
  for (int i = 0; i < 2000; ++i) {
    const auto pick = [&] {
      return random() % 2 == 0 ? edges[random() % 6]
                               : static_cast<int64_t>(random() >> (random() % 60)) / 4;
    };
    ViewRequest request{.from_ns = pick(), .to_ns = pick(), .step_ns = pick()};
    request.rows.push_back({static_cast<uint32_t>(random() % 5),
                            static_cast<uint32_t>(random() >> 32),
                            static_cast<uint32_t>(random() >> 32)});
    request.rows.push_back({0, 0, UINT32_MAX});
    const DecodedView view = DecodeView(AnswerView(*timeline, request, 5000));
    EXPECT_TRUE(view.fine);
    EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(view.step_ns)));
  }
}

}  // namespace
}  // namespace batchlight::timeline
