#include "timeline/answers/event_bytes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "analysis/testing/sample_run.h"
#include "analysis/testing/store_builder.h"
#include "base/file.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

// Decodes by the layout of docs/design/0016-timeline.md.
class Decoder {
 public:
  explicit Decoder(const std::string& bytes) : bytes_(bytes) {}

  std::string Text() {
    EXPECT_EQ(Take(), 0x45544c42u);
    EXPECT_EQ(Take(), 3u);
    const uint32_t rows = Take();
    const uint32_t events = Take();
    const size_t heads = at_;
    at_ += size_t{rows} * 16;
    std::vector<std::vector<uint64_t>> columns;
    for (int i = 0; i < 4; ++i) columns.push_back(Column(events));
    std::vector<bool> open(events);
    for (uint32_t left = Take(); left > 0; --left) open.at(Take()) = true;
    EXPECT_EQ(Take(), 0u);  // counters
    EXPECT_EQ(Take(), 0u);  // sampled calls
    EXPECT_EQ(Take(), 0u);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Take(), 0u);
    EXPECT_EQ(Take(), 0u);  // idle times
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Take(), 0u);
    std::string long_names;
    for (uint32_t left = Take(); left > 0; --left) {
      long_names += "name " + std::to_string(Take());
      const uint32_t length = Take();
      long_names += " " + bytes_.substr(at_, length) + "\n";
      at_ += length;
    }
    EXPECT_EQ(at_, bytes_.size());
    std::string text;
    at_ = heads;
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t track = Take();
      const uint32_t row = Take();
      text += "track " + std::to_string(track) + " row " + std::to_string(row) + "\n";
      const uint32_t first = Take();
      const uint32_t count = Take();
      uint64_t time_ns = 0;
      int64_t ref = -1;
      int64_t name = 0;
      for (uint32_t event = first; event < first + count; ++event) {
        const uint64_t start_ns = time_ns + columns[0][event];
        time_ns = start_ns + columns[1][event];
        ref += 1 + Signed(columns[2][event]);
        name += Signed(columns[3][event]);
        text += "  " + std::to_string(start_ns) + " " + std::to_string(time_ns) + " ref " +
                std::to_string(ref) + " name " + std::to_string(name) +
                (open[event] ? " open" : "") + "\n";
      }
    }
    return text + long_names;
  }

 private:
  uint32_t Take() {
    uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  std::vector<uint64_t> Column(uint32_t count) {
    const uint32_t length = Take();
    const size_t end = at_ + length;
    std::vector<uint64_t> values(count);
    for (uint64_t& value : values) {
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
        value |= uint64_t{byte & 127u} << shift;
        if (byte < 128) break;
      }
    }
    EXPECT_EQ(at_, end);
    return values;
  }
  static int64_t Signed(uint64_t value) {
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

TEST(EventBytes, AreAsTheGoldenFileSays) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  build.Range(main, "step", 0, 1000);
  build.Operator(main, "aten::linear", 100, 400);
  build.Operator(main, "aten::addmm", 150, 350);
  build.Operator(main, "aten::linear", 500, kOpenEnd);
  build.Kernel(main, "gemm" + std::string(kShownNameBytes, 'x') + "memory", 200, 450, 700);
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store, {.derived = false});
  const std::string bytes = EncodeEvents(*timeline, {}).bytes;
  const std::string golden = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/golden/timeline_events";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteWholeFile(golden + ".bin", bytes).ok());
    ASSERT_TRUE(WriteWholeFile(golden + ".txt", Decoder(bytes).Text()).ok());
  }
  const auto expected = ReadWholeFile(golden + ".bin");
  const auto text = ReadWholeFile(golden + ".txt");
  ASSERT_TRUE(expected.ok() && text.ok());
  EXPECT_EQ(Decoder(bytes).Text(), text.value());
  EXPECT_EQ(bytes, expected.value());
}

TEST(EventBytes, AreOfWholeStepsWhereTheRunIsTooLong) {
  const Store store = testing::MakeSampleRun({.steps = 40});
  const auto timeline = BuildTimeline(store);
  const uint64_t all = CountEvents(*timeline, {});
  EXPECT_EQ(CountEvents(*timeline, ChooseStretch(*timeline, all)), all);
  const Stretch half = ChooseStretch(*timeline, all / 2);
  const uint64_t kept = CountEvents(*timeline, half);
  EXPECT_LE(kept, all / 2);
  EXPECT_GT(kept, all / 10);
  bool begins = false;
  bool ends = false;
  for (const Step& step : timeline->steps().Main()->steps) {
    begins |= step.start_ns == half.from_ns;
    ends |= step.end_ns == half.to_ns;
  }
  EXPECT_TRUE(begins && ends);
  // Less than a step: as much of the beginning as there is room for.
  EXPECT_LE(CountEvents(*timeline, ChooseStretch(*timeline, 7)), 7u);
}

// A slow step matters more than the first ones.
TEST(EventBytes, AreOfTheStepsAroundTheSlowOne) {
  testing::StoreBuilder build;
  const ThreadId main = build.Thread(build.Process(100, "train.py"));
  int64_t at_ns = 0;
  for (int64_t step = 0; step < 40; ++step) {
    const int64_t length_ns = (step == 33 ? 9 : 1) * 1'000'000;
    build.Range(main, "step", at_ns, at_ns + length_ns);
    build.Operator(main, "aten::mm", at_ns + 10, at_ns + length_ns - 10);
    at_ns += length_ns;
  }
  const Store store = build.Build();
  const auto timeline = BuildTimeline(store);
  const Step& slow = timeline->steps().Main()->steps.at(33);
  ASSERT_TRUE(slow.outlier);
  for (const uint64_t share : {2, 5}) {
    const Stretch held = ChooseStretch(*timeline, CountEvents(*timeline, {}) / share);
    EXPECT_LE(held.from_ns, slow.start_ns);
    EXPECT_GE(held.to_ns, slow.end_ns);
    EXPECT_GT(held.to_ns - held.from_ns, slow.duration_ns() + 2'000'000) << "and usual ones";
  }
}

}  // namespace
}  // namespace batchlight::timeline
