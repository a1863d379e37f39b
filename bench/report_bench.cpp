// Writing the report folder of a run: page, tables, picture, snippet. The overview is made before.
//   report_bench [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/testing/sample_run.h"
#include "report/files/report_folder.h"

namespace batchlight {
namespace {

void WriteReport(benchmark::State& state) {
  const size_t steps = static_cast<size_t>(state.range(0));
  const Store store = testing::MakeSampleRun({.steps = steps, .operators_per_step = 500});
  const RunOverview overview = BuildOverview(store, {.phase_events = true});
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("bl_report_bench_" + std::to_string(getpid()));
  for (auto _ : state) {
    const auto written = WriteReportFolder(
        overview, {.folder = folder.string(), .overwrite = true, .version = "bench"});
    if (!written.ok()) state.SkipWithError(written.status().message().c_str());
  }
  state.counters["events"] = double(overview.session.events);
  state.counters["page_bytes"] = double(std::filesystem::file_size(folder / "index.html"));
  std::filesystem::remove_all(folder);
}
BENCHMARK(WriteReport)->Arg(200)->Arg(2000)->Arg(20000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace batchlight

BENCHMARK_MAIN();
