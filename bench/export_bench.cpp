// Writing traces and stacks: time an event. Limit: 1 µs for chrome and perfetto.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "export/exporter.h"
#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"
#include "training_recording.h"

namespace batchlight::bench {
namespace {

const Store& Recording() {
  static const Store store = [] {
    char name[] = "/tmp/bl_export_bench_XXXXXX";
    const std::string folder = mkdtemp(name);
    if (!WriteLiveFolder(TrainingRecording(2'000'000), folder + "/a.live").ok()) std::abort();
    Result<Store> read = ReadRecording(folder + "/a.live");
    std::filesystem::remove_all(folder);
    return std::move(read).value();
  }();
  return store;
}

// The writers run on one thread; its own time does not depend on what else the machine does.
double ProcessorNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void BM_Export(benchmark::State& state, const char* type) {
  const Store& store = Recording();
  ExportOptions options;
  options.output = "/tmp/bl_export_bench_out";
  uint64_t events = 0;
  double elapsed_ns = 0;
  for (auto _ : state) {
    const double begin_ns = ProcessorNs();
    Result<uint64_t> written = FindExporter(type)->run(store, options);
    elapsed_ns += ProcessorNs() - begin_ns;
    if (!written.ok()) return state.SkipWithError(written.status().message().c_str());
    events += written.value();
  }
  state.counters["cpu_ns_per_event"] = elapsed_ns / static_cast<double>(events);
  state.counters["bytes_per_event"] =
      static_cast<double>(std::filesystem::file_size(options.output)) *
      static_cast<double>(state.iterations()) / static_cast<double>(events);
  std::filesystem::remove(options.output);
}
BENCHMARK_CAPTURE(BM_Export, chrome, "chrome")->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(BM_Export, perfetto, "perfetto")->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(BM_Export, folded, "folded")->Unit(benchmark::kMillisecond)->Iterations(2);
BENCHMARK_CAPTURE(BM_Export, speedscope, "speedscope")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);

}  // namespace
}  // namespace batchlight::bench

BENCHMARK_MAIN();
