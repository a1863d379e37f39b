#include "report/charts/picture.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "analysis/result/result_column.h"
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

TEST(Picture, TicksOfCountsAreWholeAndThoseOfBytesRound) {
  ResultTable table{.name = "probe_storage",
                    .title = "Storage",
                    .columns = {CountColumn("workers", "Workers", ""),
                                {.name = "Bytes/s",
                                 .type = CellType::kInteger,
                                 .unit = Unit::kRate,
                                 .key = "bytes_per_s"},
                                TextColumn("series", "Read", "")},
                    .rows = {{int64_t{1}, int64_t{300'000'000}, std::string("seq")},
                             {int64_t{16}, int64_t{1'150'000'000}, std::string("seq")}}};
  const auto made = RenderPlot(RowsOf(table), PictureFormat::kSvg);
  ASSERT_TRUE(made.ok());
  const std::string& svg = made.value();
  for (const char* tick : {">1<", ">16<", ">500 MB/s<"}) {
    EXPECT_NE(svg.find(tick), std::string::npos) << tick << svg;
  }
}

TEST(Picture, ReportsWithoutOneSaySo) {
  EXPECT_FALSE(RenderPlot({.name = "nvtx_sum"}, PictureFormat::kSvg).ok());
}

}  // namespace
}  // namespace batchlight
