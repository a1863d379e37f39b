#include "report/tensorboard/dlprof_events.h"

#include <gtest/gtest.h>

#include "analysis/testing/sample_run.h"

namespace batchlight {
namespace {

TEST(DlprofEvents, HoldsScalarsPicturesHistogramAndText) {
  const Store store = testing::MakeSampleRun({.gpu = true});
  const RunOverview overview = BuildOverview(store);
  const Result<dlprof::Model> model = dlprof::BuildModel(overview, {});
  ASSERT_TRUE(model.ok());
  const Result<std::string> events = DlprofEvents(overview, model.value());
  ASSERT_TRUE(events.ok()) << events.status().message();
  for (const char* expected : {"iteration time (ms)", "GPU utilization (%)", "\x89PNG\r\n",
                               "steady iteration times (ms)", "histograms", "| Op Name |"}) {
    EXPECT_NE(events->find(expected), std::string::npos) << expected;
  }
  // The pictures give their size as TensorBoard expects: width 1800, as text.
  EXPECT_NE(events->find("1800"), std::string::npos);
}

}  // namespace
}  // namespace batchlight
