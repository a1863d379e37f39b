// sample_report DIR [STEPS [OPERATORS_PER_STEP [gpu]]]: the report of a run made by hand, for the
// browser tests in web/.
#include <cstdio>
#include <cstdlib>

#include "analysis/run_overview.h"
#include "analysis/testing/sample_run.h"
#include "report/report_folder.h"

int main(int argc, char** argv) {
  using namespace batchlight;
  if (argc < 2) return 2;
  testing::SampleRun run;
  if (argc > 2) run.steps = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) run.operators_per_step = std::strtoull(argv[3], nullptr, 10);
  run.gpu = argc > 4;
  const Store store = testing::MakeSampleRun(run);
  const RunOverview overview = BuildOverview(store);
  const auto written =
      WriteReportFolder(overview, {.folder = argv[1], .overwrite = true, .version = "test"});
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.status().message().c_str());
  return written.status().exit_code();
}
