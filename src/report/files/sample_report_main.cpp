// sample_report DIR [STEPS [OPERATORS_PER_STEP [gpu]]]: the report of a run made by hand, and
// DIR/diff.html, which compares it with one whose forward is faster; for the browser tests in
// web/.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/overview/run_overview.h"
#include "analysis/testing/sample_run.h"
#include "base/file.h"
#include "report/files/report_folder.h"
#include "report/terminal/diff_text.h"

namespace batchlight {
namespace {

Status Write(const std::string& folder, const testing::SampleRun& run) {
  const Store store = testing::MakeSampleRun(run);
  const RunOverview overview = BuildOverview(store, {.phase_events = true});
  const auto written =
      WriteReportFolder(overview, {.folder = folder, .overwrite = true, .version = "test"});
  if (!written.ok()) return written.status();
  testing::SampleRun other = run;
  other.forward_ms = 5;
  const Store other_store = testing::MakeSampleRun(other);
  const RunDiff diff = DiffRuns(overview, BuildOverview(other_store));
  return WriteWholeFile(folder + "/diff.html", DiffAsHtml(diff, {}, "test"));
}

}  // namespace
}  // namespace batchlight

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  batchlight::testing::SampleRun run;
  if (argc > 2) run.steps = std::strtoull(argv[2], nullptr, 10);
  if (argc > 3) run.operators_per_step = std::strtoull(argv[3], nullptr, 10);
  run.gpu = argc > 4;
  const batchlight::Status status = batchlight::Write(argv[1], run);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.exit_code();
}
