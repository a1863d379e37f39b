#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "analysis/testing/store_builder.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::timeline {
namespace {

class MetricTracks : public ::testing::Test {
 protected:
  void Metric(uint32_t device, std::string_view uuid, std::string_view name,
              std::string_view unit) {
    build_.store().gpu_metrics.Append({.device = device,
                                       .uuid = build_.Text(uuid),
                                       .metric = build_.Text(name),
                                       .unit = build_.Text(unit)});
  }
  void Sample(int64_t at_ns, uint32_t device, std::string_view metric, double value) {
    build_.store().gpu_metric_samples.Append(
        {.start_ns = at_ns, .device = device, .metric = build_.Text(metric), .value = value});
  }
  // As CUDA counts them.
  void Gpu(uint32_t device, std::string_view uuid, ProcessId process) {
    build_.store().gpus.Append({.device = device, .uuid = build_.Text(uuid)});
    build_.store().gpu_contexts.Append({.process = process, .device = device, .context = 1});
  }
  static const Track* Find(const Timeline& timeline, std::string_view title,
                           std::string_view group) {
    for (const Track& track : timeline.tracks()) {
      if (track.title != title || track.series.size() != 1) continue;
      if (timeline.groups()[size_t(track.group)].title.find(group) != std::string::npos) {
        return &track;
      }
    }
    return nullptr;
  }

  testing::StoreBuilder build_;
};

TEST_F(MetricTracks, EachMetricOfEachGpuIsAStripWithItsUnit) {
  const ProcessId process = build_.Process(100, "train.py");
  // The tool counts as nvidia-smi does, the program the other way round.
  Gpu(0, "uuid-b", process);
  Gpu(1, "uuid-a", process);
  Metric(0, "uuid-a", "power", "W");
  Metric(1, "uuid-b", "power", "W");
  Metric(1, "uuid-b", "dram__bytes_read.sum", "");
  Metric(1, "uuid-b", "never sampled", "%");
  for (int64_t at = 1000; at <= 3000; at += 1000) {
    Sample(at, 0, "power", 100);
    Sample(at, 1, "power", double(at));
    Sample(at, 1, "dram__bytes_read.sum", 7);
  }
  const Store store = build_.Build();
  const auto timeline = BuildTimeline(store);
  const Track* const of_first = Find(*timeline, "power, W", "GPU 0");
  ASSERT_NE(of_first, nullptr);
  const CounterRow& row = of_first->series[0];
  ASSERT_EQ(row.size(), 4u);
  EXPECT_EQ(row.value(1), 2000) << "of uuid-b, which is device 1 for nvidia-smi";
  EXPECT_EQ(row.most(), 3000);
  EXPECT_EQ(row.time_ns(3), 4000) << "the last one holds for as long as the one before";
  EXPECT_TRUE(std::isnan(row.value(3)));
  const Track* const of_second = Find(*timeline, "power, W", "GPU 1");
  ASSERT_NE(of_second, nullptr);
  EXPECT_EQ(of_second->series[0].value(1), 100);
  EXPECT_EQ(of_second->series_titles, std::vector<std::string>{"power, W"});
  EXPECT_NE(Find(*timeline, "DRAM read", "GPU 0"), nullptr) << "as people call it";
  EXPECT_EQ(Find(*timeline, "never sampled, %", "GPU"), nullptr);
}

TEST_F(MetricTracks, AGpuThatNoProgramUsesHasItsStripToo) {
  Metric(3, "", "any kernel ran", "%");
  Sample(1000, 3, "any kernel ran", 40);
  const Store store = build_.Build();
  const auto timeline = BuildTimeline(store);
  const Track* const track = Find(*timeline, "any kernel ran, %", "");
  ASSERT_NE(track, nullptr);
  EXPECT_EQ(track->series[0].size(), 1u);
}

}  // namespace
}  // namespace batchlight::timeline
