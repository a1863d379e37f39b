#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/testing/store_builder.h"
#include "timeline/answers/links.h"
#include "timeline/answers/run_json.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using testing::StoreBuilder;

constexpr int64_t kMs = 1'000'000;

// It is drawn from the middle between two looks, which may be in the step before.
TEST(EventDetails, ASampledCallIsOfTheStepInWhichMostOfItLies) {
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
  store.python_samples.Append({.start_ns = 470 * kMs,
                               .end_ns = 590 * kMs,
                               .thread = main,
                               .python_stack = PythonStackId::At(0),
                               .samples = 4});
  const Store built = build.Build();
  const auto timeline = BuildTimeline(built);
  const Links links(*timeline);
  const auto track = std::find_if(timeline->tracks().begin(), timeline->tracks().end(),
                                  [](const Track& one) { return one.kind == TrackKind::kPython; });
  ASSERT_NE(track, timeline->tracks().end());
  const nlohmann::json nap = EventDetails(*timeline, links, track->rows[0].refs()[0]);
  EXPECT_NEAR(nap["from"].get<double>(), 485 * kMs, 0.1 * kMs);  // between two looks
  const nlohmann::json& sampled = nap["sampled"];
  EXPECT_EQ(sampled["looks"], 4);
  EXPECT_EQ(sampled["line"], 8);
  // In that line all the time, which is not more than there is.
  EXPECT_EQ(sampled["line_ns"], nap["to"].get<int64_t>() - nap["from"].get<int64_t>());
  EXPECT_EQ(nap["step"]["from"], 500 * kMs) << nap["step"];
  const uint32_t ref = track->rows[0].refs()[0];
  const nlohmann::json within = LineWithin(*timeline, ref, 500 * kMs, 550 * kMs);
  EXPECT_EQ(within.dump(), R"({"line":8,"line_ns":50000000})");
  EXPECT_TRUE(LineWithin(*timeline, ref, 700 * kMs, 800 * kMs).is_null()) << "it had ended";
  const uint32_t step = timeline->events().TableWithKey("nvtx_ranges")->first_ref;
  EXPECT_TRUE(LineWithin(*timeline, step, 500 * kMs, 550 * kMs).is_null()) << "no sampled call";
}

// A call of 100 ms: ran 20, had no processor 30, waited for the GIL 40, slept 10. What a recording
// cannot tell apart is said as one.
TEST(EventDetails, ACallThatIsKeptFromRunningDoesNotSleep) {
  const auto did = [](int64_t ready_ns) {
    StoreBuilder build;
    const ThreadId main = build.Thread(build.Process(100, "train.py"));
    Store& store = build.store();
    store.python_frames.Append({.file = store.strings.Intern("train.py"),
                                .function = store.strings.Intern("busy"),
                                .first_line = 7,
                                .line = 8});
    store.python_stacks.Append({.frame = PythonFrameId::At(0)});
    const auto look = [&](int64_t from_ns, int64_t to_ns, int64_t cpu_ns, int64_t ready,
                          GilState gil) {
      store.python_samples.Append({.start_ns = from_ns * kMs,
                                   .end_ns = to_ns * kMs,
                                   .thread = main,
                                   .python_stack = PythonStackId::At(0),
                                   .samples = uint32_t((to_ns - from_ns) / 10),
                                   .cpu_ns = cpu_ns * kMs,
                                   .ready_ns = ready * kMs,
                                   .gil = gil});
    };
    look(0, 60, 20, ready_ns, GilState::kApart);
    look(60, 100, 0, 0, GilState::kWaits);
    const Store built = build.Build();
    const auto timeline = BuildTimeline(built);
    const Links links(*timeline);
    const auto track =
        std::find_if(timeline->tracks().begin(), timeline->tracks().end(),
                     [](const Track& one) { return one.kind == TrackKind::kPython; });
    return EventDetails(*timeline, links, track->rows[0].refs()[0])["did"];
  };
  EXPECT_EQ(did(30), nlohmann::json({{"ran", 18333000},
                                     {"ready", 27500000},
                                     {"gil", 40 * kMs},
                                     {"waited", 9167000},
                                     {"knows_ready", true}}));
  EXPECT_EQ(did(0), nlohmann::json({{"ran", 18333000},
                                    {"ready", 0},
                                    {"gil", 40 * kMs},
                                    {"waited", 36667000},
                                    {"knows_ready", false}}));
}

// What one look saw is drawn up to the middle to the next one, which tells of the time before it.
TEST(EventDetails, WhatAThreadDidAddsUpToTheCall) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  Store& store = build.store();
  for (const char* function : {"busy", "nap"}) {
    store.python_stacks.Append({.frame = PythonFrameId::At(store.python_frames.size())});
    store.python_frames.Append({.file = store.strings.Intern("train.py"),
                                .function = store.strings.Intern(function),
                                .first_line = 7,
                                .line = 8});
  }
  for (int64_t look = 0; look < 3; ++look) {
    const bool naps = look == 1;
    store.python_samples.Append({.start_ns = look * 10 * kMs,
                                 .end_ns = (look + 1) * 10 * kMs,
                                 .thread = main,
                                 .python_stack = PythonStackId::At(naps ? 1 : 0),
                                 .samples = 1,
                                 .cpu_ns = naps ? 0 : 10 * kMs});
  }
  const Store built = build.Build();
  const auto timeline = BuildTimeline(built);
  const Links links(*timeline);
  const auto track = std::find_if(timeline->tracks().begin(), timeline->tracks().end(),
                                  [](const Track& one) { return one.kind == TrackKind::kPython; });
  ASSERT_EQ(track->rows[0].refs().size(), 3u);
  const nlohmann::json nap = EventDetails(*timeline, links, track->rows[0].refs()[1]);
  EXPECT_EQ(nap["to"].get<int64_t>() - nap["from"].get<int64_t>(), 10 * kMs);
  EXPECT_EQ(nap["did"], nlohmann::json({{"ran", 5 * kMs},
                                        {"ready", 0},
                                        {"gil", 0},
                                        {"waited", 5 * kMs},
                                        {"knows_ready", false}}));
}

// That launched what ended it, whatever other threads did.
TEST(EventDetails, AnIdleGapSaysWhichThreadItWaitedFor) {
  StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId main = build.Thread(process), other = build.Thread(process);
  build.Operator(other, "aten::add", 0, 100 * kMs);
  build.Kernel(main, "first", 0, 1 * kMs, 2 * kMs);
  build.Kernel(main, "second", 50 * kMs, 51 * kMs, 52 * kMs);
  const Store built = build.Build();
  const auto timeline = BuildTimeline(built);
  const Links links(*timeline);
  const nlohmann::json gap =
      EventDetails(*timeline, links, timeline->events().TableWithKey("gpu_idle")->first_ref);
  ASSERT_EQ(gap["waited_for"].size(), 1u) << gap;
  const Track& track = timeline->tracks()[gap["waited_for"][0].get<size_t>()];
  EXPECT_EQ(track.kind, TrackKind::kThread);
  EXPECT_EQ(track.thread, main);
}

TEST(EventDetails, WhatStandsForNoneIsNoField) {
  StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  Store& store = build.store();
  const auto call = [&](int64_t start_ns, uint64_t bytes, uint32_t released_by) {
    store.os_calls.Append({.start_ns = start_ns,
                           .end_ns = start_ns + kMs,
                           .thread = main,
                           .name = store.strings.Intern("read"),
                           .result = 0,
                           .bytes = bytes,
                           .released_by = released_by});
  };
  call(0, 0, 0);
  call(2 * kMs, 512, 100);
  const Store built = build.Build();
  const auto timeline = BuildTimeline(built);
  const Links links(*timeline);
  const uint32_t first_ref = timeline->events().TableWithKey("os_calls")->first_ref;
  const nlohmann::json released = EventDetails(*timeline, links, first_ref + 1)["fields"].back();
  EXPECT_EQ(released["text"], "tid 100") << "as the thread's own number is told";
  const auto keys = [&](uint32_t row) {
    std::string text;
    const nlohmann::json details = EventDetails(*timeline, links, first_ref + row);
    for (const nlohmann::json& field : details["fields"]) {
      text += field["key"].get<std::string>() + ' ';
    }
    return text;
  };
  EXPECT_EQ(keys(0).find("bytes"), std::string::npos) << keys(0);
  EXPECT_EQ(keys(0).find("released_by"), std::string::npos) << keys(0);
  EXPECT_NE(keys(0).find("result"), std::string::npos) << keys(0);
  EXPECT_NE(keys(1).find("bytes"), std::string::npos) << keys(1);
  EXPECT_NE(keys(1).find("released_by"), std::string::npos) << keys(1);
}

}  // namespace
}  // namespace batchlight::timeline
