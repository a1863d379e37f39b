#include "capture/recording/sample_frames.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "counters/sample_stream.h"

namespace batchlight::capture {
namespace {

using counters::FrameKind;

template <typename Head>
std::string Frame(FrameKind kind, const Head& head, std::string_view rest) {
  const counters::FrameHead frame = {kind, static_cast<uint32_t>(sizeof head + rest.size())};
  std::string bytes(reinterpret_cast<const char*>(&frame), sizeof frame);
  bytes.append(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes.append(rest);
}

std::string Bytes(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

class SampleFramesTest : public testing::Test {
 protected:
  SampleFramesTest() {
    frames_.on_metric = [this](const GpuMetricDefinition& metric) {
      said_ += metric.uuid + "/" + metric.name + "/" + metric.unit + " ";
    };
    frames_.on_sample = [this](const GpuSample& sample) {
      said_ += std::to_string(sample.start_ns) + ":" + std::to_string(sample.device);
      for (const float value : sample.values) said_ += "," + std::to_string(int(value));
      said_ += " ";
    };
    frames_.on_reason = [this](std::string_view text) { said_ += "[" + std::string(text) + "] "; };
    frames_.on_lost = [this](uint64_t samples) {
      said_ += "lost " + std::to_string(samples) + " ";
    };
  }

  static std::string Stream() {
    using namespace std::string_view_literals;
    return Frame(FrameKind::kMetric, counters::MetricFrame{1000, 0, 1}, "a-b\0sm\0%\0"sv) +
           Frame(FrameKind::kSample, counters::SampleFrame{7, 0, 1}, Bytes({50, 25})) +
           Frame(FrameKind::kLost, counters::LostFrame{3}, "") +
           Frame(FrameKind::kReason, char('w'), "hy not");
  }
  static constexpr char kSaid[] = "a-b/sm/% 7:0,50,25 lost 3 [why not] ";

  SampleFrames frames_;
  std::string said_;
};

TEST_F(SampleFramesTest, InOnePiece) {
  EXPECT_TRUE(frames_.Take(Stream()));
  EXPECT_EQ(said_, kSaid);
}

TEST_F(SampleFramesTest, ByteByByte) {
  for (const char byte : Stream()) ASSERT_TRUE(frames_.Take({&byte, 1}));
  EXPECT_EQ(said_, kSaid);
}

TEST_F(SampleFramesTest, WhatIsNoFrameEndsIt) {
  EXPECT_FALSE(frames_.Take(Frame(FrameKind{9}, 0, "")));
  EXPECT_FALSE(frames_.Take(Stream()));
  EXPECT_EQ(said_, "");
}

TEST_F(SampleFramesTest, AFrameWithoutEnd) {
  const counters::FrameHead head = {FrameKind::kReason, UINT32_MAX};
  EXPECT_FALSE(frames_.Take({reinterpret_cast<const char*>(&head), sizeof head}));
}

TEST_F(SampleFramesTest, AnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    SampleFrames frames;
    frames.on_metric = [](const GpuMetricDefinition&) {};
    frames.on_sample = [](const GpuSample&) {};
    frames.on_reason = [](std::string_view) {};
    frames.on_lost = [](uint64_t) {};
    std::string bytes = Stream();
    for (int change = 0; change < 4; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % bytes.size());
    (void)frames.Take(bytes);
  }
}

}  // namespace
}  // namespace batchlight::capture
