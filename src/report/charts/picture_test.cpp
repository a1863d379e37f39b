#include "report/charts/picture.h"

#include <gtest/gtest.h>

#include <set>

#include "analysis/stats/stats_report.h"
#include "analysis/testing/sample_run.h"
#include "report/charts/plot.h"

namespace batchlight {
namespace {

// Not reports of `stats`: src/probe, analysis/recipes (recipes have a test of their own).
const std::set<std::string_view> kOfOthers = {"probe_storage", "rank_stats",
                                              "mpi_gpu_time_util_map", "nccl_gpu_time_util_map"};

TEST(Picture, DrawsColumnsThatItsReportHas) {
  const Store store = testing::MakeSampleRun({.steps = 4, .gpu = true});
  for (const Picture& picture : Pictures()) {
    if (kOfOthers.contains(picture.report)) continue;
    const stats::Report* report = stats::FindReport(picture.report);
    ASSERT_NE(report, nullptr) << picture.report;
    const RowSource rows = stats::RunReport(*report, {.store = store, .args = {}}).value();
    std::set<std::string_view> keys;
    for (const ResultColumn& column : rows.columns) keys.insert(column.key);
    for (const std::string_view key : {picture.x, picture.value, picture.unit, picture.process}) {
      EXPECT_TRUE(key.empty() || keys.contains(key)) << picture.report << ' ' << key;
    }
    EXPECT_TRUE(RenderPlot(rows, PictureFormat::kSvg).ok()) << picture.report;
  }
}

TEST(Picture, ReportsWithoutOneSaySo) {
  EXPECT_FALSE(RenderPlot({.name = "nvtx_sum"}, PictureFormat::kSvg).ok());
}

}  // namespace
}  // namespace batchlight
