#include "capture/monitor/metrics.h"

#include <gtest/gtest.h>

namespace batchlight::capture {
namespace {

TEST(MetricsTest, IsTheTextFormatOfPrometheus) {
  ProcessSteps process;
  process.pid = 42;
  process.rank = 3;
  process.step = 3;
  process.end_ns = 5'000'000'000;
  process.timed_steps = 2;
  process.total_ns = 300'000'000;
  process.recent_ns = {100'000'000, 200'000'000};
  process.phase_us[0] = 1500;
  const std::string text = MetricsText(MetricsOf({.processes = {&process},
                                                  .version = "1.2",
                                                  .windows = 1,
                                                  .monotonic_to_unix_ns = 1'000'000'000'000}));
  for (const char* line : {
           "batchlight_info{version=\"1.2\"} 1\n",
           "# TYPE batchlight_step gauge\nbatchlight_step{rank=\"3\",pid=\"42\"} 3\n",
           "batchlight_last_step_timestamp_seconds{rank=\"3\",pid=\"42\"} 1005.000000000\n",
           "batchlight_step_duration_seconds{rank=\"3\",pid=\"42\",quantile=\"0.5\"} 0.100000000\n",
           "batchlight_step_duration_seconds{rank=\"3\",pid=\"42\",quantile=\"0.99\"} "
           "0.200000000\n",
           "batchlight_step_duration_seconds_sum{rank=\"3\",pid=\"42\"} 0.300000000\n",
           "batchlight_step_duration_seconds_count{rank=\"3\",pid=\"42\"} 2\n",
           "batchlight_step_phase_seconds_total{rank=\"3\",pid=\"42\",phase=\"data_loading\"} "
           "0.001500000\n",
           "batchlight_windows_total 1\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
}

}  // namespace
}  // namespace batchlight::capture
