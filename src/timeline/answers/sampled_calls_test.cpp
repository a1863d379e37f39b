#include "timeline/answers/sampled_calls.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "timeline/answers/event_bytes.h"
#include "timeline/answers/links.h"
#include "timeline/answers/run_json.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

using nlohmann::json;

constexpr int64_t kMs = 1'000'000;
// Of a kernel: longer than what a page shows of it, and told by its end.
const std::string kLongName = "void gemm<" + std::string(400, 'x') + ">(memory_order)";

// Steps of 100 ms from 98 ms on, whose thread is looked at every 10 ms, at 5, 15, ...
class SampledCallsTest : public ::testing::Test {
 protected:
  SampledCallsTest() {
    for (int64_t step = 0; step < 10; ++step) {
      build_.Range(thread_, "step", (98 + 100 * step) * kMs, (198 + 100 * step) * kMs);
    }
    const PythonStackId module = Frame("<module>", 60, {});
    const PythonStackId main = Frame("main", 40, module);
    Look(5, 15, module);
    Look(25, 75, main);
    // A step's call is seen before the step begins where nothing else is known of it.
    Look(85, 95, Frame("load", 3, main));
    Look(105, 115, Frame("load", 3, main));
    Look(125, 275, main);
    const PythonStackId forward = Frame("forward", 11, main);
    Look(285, 295, forward);
    Look(305, 315, Frame("linear", 22, forward));
    Look(325, 375, main);
    // The next look is after the step's border, and the middle between the two as well.
    Look(385, 395, Frame("edge", 30, main));
    Look(405, 1295, main);
    Look(1305, 1315, module);
    // A GPU that waits once for another thread, once for this one.
    const ThreadId autograd = build_.Thread(process_);
    build_.Kernel(thread_, kLongName, 300 * kMs, 301 * kMs, 305 * kMs);
    build_.Kernel(autograd, "second", 340 * kMs, 341 * kMs, 345 * kMs);
    build_.Kernel(thread_, "third", 380 * kMs, 381 * kMs, 385 * kMs);
    Store& store = build_.store();
    const NativeStackId outer = NativeFrame("run", {});
    const NativeStackId inner = NativeFrame("gemm", outer);
    for (int64_t at = 281; at < 310; ++at) {
      store.cpu_samples.Append({.start_ns = at * kMs,
                                .thread = thread_,
                                .cpu_ns = kMs,
                                .native_stack = at >= 290 && at < 300 ? inner : outer});
    }
    store_ = build_.Build();
    timeline_ = BuildTimeline(store_);
  }

  PythonStackId Frame(const char* function, uint32_t line, PythonStackId caller) {
    Store& store = build_.store();
    store.python_frames.Append({.file = store.strings.Intern("/home/u/train.py"),
                                .function = store.strings.Intern(function),
                                .first_line = line - 1,
                                .line = line});
    store.python_stacks.Append(
        {.frame = PythonFrameId::At(store.python_frames.size() - 1), .parent = caller});
    return PythonStackId::At(store.python_stacks.size() - 1);
  }
  NativeStackId NativeFrame(const char* function, NativeStackId caller) {
    Store& store = build_.store();
    store.native_frames.Append({.function = store.strings.Intern(function)});
    store.native_stacks.Append(
        {.frame = NativeFrameId::At(store.native_frames.size() - 1), .parent = caller});
    return NativeStackId::At(store.native_stacks.size() - 1);
  }
  void Look(int64_t first_ms, int64_t last_ms, PythonStackId stack) {
    build_.store().python_samples.Append({.start_ns = (first_ms - 10) * kMs,
                                          .end_ns = last_ms * kMs,
                                          .thread = thread_,
                                          .python_stack = stack,
                                          .samples = uint32_t(last_ms - first_ms) / 10 + 1,
                                          .cpu_ns = (last_ms - first_ms) * kMs / 3,
                                          .ready_ns = kMs});
  }

  // visit(ref, name) for all that samples found.
  template <typename Visitor>
  void VisitSampled(Visitor&& visit) const {
    const Events& events = timeline_->events();
    for (const Track& track : timeline_->tracks()) {
      if (!IsSampled(track.kind)) continue;
      for (const EventRow& row : track.rows) {
        for (const uint32_t ref : row.refs()) {
          visit(ref, timeline_->names().Text(events.Name(ref)));
        }
      }
    }
  }
  SampledCall Of(std::string_view name) const {
    SampledCall call;
    const SampledCalls calls(*timeline_);
    VisitSampled([&](uint32_t ref, std::string_view other) {
      if (other.find(name) != other.npos) call = calls.Of(timeline_->PlaceOf(ref), ref);
    });
    return call;
  }

  testing::StoreBuilder build_;
  ProcessId process_ = build_.Process(100, "train.py");
  ThreadId thread_ = build_.Thread(process_);
  Store store_;
  std::unique_ptr<Timeline> timeline_;
};

TEST_F(SampledCallsTest, AreOfTheStepsInWhichLooksSawThem) {
  ASSERT_NE(timeline_->steps().Main(), nullptr);
  EXPECT_EQ(timeline_->steps().Main()->steps.size(), 10u);
  EXPECT_EQ(Of("load").steps, 1u);
  EXPECT_EQ(Of("forward").steps, 2u);
  EXPECT_EQ(Of("edge").steps, 1u) << "it is drawn into the next one";
  EXPECT_EQ(Of("gemm").steps, 2u);
}

TEST_F(SampledCallsTest, WhatHoldsTheLoopIsNoCallOfAStep) {
  EXPECT_EQ(Of("main").steps, 0u);
  EXPECT_EQ(Of("<module>").steps, 0u);
}

TEST_F(SampledCallsTest, KnowLooksAndLines) {
  const SampledCall forward = Of("forward");
  EXPECT_EQ(forward.looks, 4u);
  EXPECT_EQ(forward.apart_ns, 10 * kMs);
  EXPECT_EQ(forward.line, 11u);
  EXPECT_EQ(forward.line_ns, 40 * kMs) << "all of it";
  const SampledCall gemm = Of("gemm");
  EXPECT_EQ(gemm.looks, 10u);
  EXPECT_EQ(gemm.apart_ns, kMs);
  EXPECT_EQ(gemm.line, 0u);
}

TEST_F(SampledCallsTest, KnowTheLineOfAPart) {
  const SampledCalls calls(*timeline_);
  const auto line_in = [&](int64_t from_ms, int64_t to_ms) {
    SampledCall call;
    VisitSampled([&](uint32_t ref, std::string_view name) {
      if (name.find("(main)") == name.npos) return;
      call = calls.In(timeline_->PlaceOf(ref), ref, from_ms * kMs, to_ms * kMs);
    });
    return std::pair(call.line, call.line_ns / kMs);
  };
  EXPECT_EQ(line_in(130, 170), std::pair(40u, int64_t{40}));
  EXPECT_EQ(line_in(0, 5), std::pair(0u, int64_t{0})) << "before the call";
}

// The page in a file says the same: its unit test reads this, and page_source.ts answers it.
TEST_F(SampledCallsTest, AnswersAreAsTheGoldenFileSays) {
  const Links links(*timeline_);
  json golden = {{"run", RunJson(*timeline_, {})},
                 {"names", json::array()},
                 {"bytes", json::array()},
                 {"answers", json::array()}};
  golden["run"].erase("hash");
  for (uint32_t name = 0; name < timeline_->names().size(); ++name) {
    golden["names"].push_back(timeline_->names().Text(name).substr(0, kShownNameBytes));
  }
  for (const char byte : EncodeEvents(*timeline_, {}).bytes) {
    golden["bytes"].push_back(static_cast<unsigned char>(byte));
  }
  const auto add = [&](uint32_t ref) {
    json answer = EventDetails(*timeline_, links, ref);
    for (const char* only_served : {"fields", "links"}) answer.erase(only_served);
    golden["answers"].push_back(std::move(answer));
  };
  VisitSampled([&](uint32_t ref, std::string_view) { add(ref); });
  // A gap says whom the GPU waited for.
  const EventTable* gaps = timeline_->events().TableWithKey("gpu_idle");
  ASSERT_TRUE(gaps != nullptr && gaps->rows > 1);
  for (uint32_t row = 0; row < gaps->rows; ++row) add(gaps->first_ref + row);
  const std::string path =
      std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/golden/timeline_sampled.json";
  const std::string text = golden.dump() + "\n";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteWholeFile(path, text).ok());
  }
  const auto expected = ReadWholeFile(path);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(text, expected.value());
}

}  // namespace
}  // namespace batchlight::timeline
