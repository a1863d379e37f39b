// From a recording to the text of the summary.
//
//   summary_bench    10 million events (20 million begin and end records); 1 million GPU events;
//                    the events behind the phases of both, which report and table add
//
// Limits: 3 s for 10 million events with reading, on 2 cores; 1 s for 1 million GPU events.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/overview/run_overview.h"
#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"
#include "report/terminal/summary.h"
#include "training_recording.h"

namespace batchlight::bench {
namespace {

void BM_SummaryOfRecording(benchmark::State& state) {
  char folder[] = "/tmp/bl_summary_bench_XXXXXX";
  const std::string path = std::string(mkdtemp(folder)) + "/a.batchlight.live";
  if (!WriteLiveFolder(TrainingRecording(20'000'000), path).ok()) std::abort();
  uint64_t events = 0;
  for (auto _ : state) {
    Result<Store> store = ReadRecording(path);
    if (!store.ok()) return state.SkipWithError(store.status().message().c_str());
    const RunOverview overview = BuildOverview(store.value());
    benchmark::DoNotOptimize(SummaryAsText(overview, {}).size());
    events = overview.session.events;
  }
  state.counters["events"] = double(events);
  std::filesystem::remove_all(folder);
}
BENCHMARK(BM_SummaryOfRecording)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void BM_PhaseEventsOfRecording(benchmark::State& state) {
  char folder[] = "/tmp/bl_summary_bench_XXXXXX";
  const std::string path = std::string(mkdtemp(folder)) + "/a.batchlight.live";
  if (!WriteLiveFolder(TrainingRecording(20'000'000), path).ok()) std::abort();
  const Result<Store> store = ReadRecording(path);
  std::filesystem::remove_all(folder);
  if (!store.ok()) return state.SkipWithError(store.status().message().c_str());
  const RunOverview overview = BuildOverview(store.value());
  for (auto _ : state) benchmark::DoNotOptimize(PhaseEventsOf(overview)->tracks.size());
}
BENCHMARK(BM_PhaseEventsOfRecording)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

// Steps of 1000 launches: an operator, its launching call and its kernel each.
Store GpuRun(size_t kernels) {
  constexpr int64_t kStepKernels = 1000;
  Store store;
  store.processes.Append({.pid = 1, .end_ns = kOpenEnd});
  store.threads.Append({.process = ProcessId::At(0), .tid = 1});
  const ThreadId thread = ThreadId::At(0);
  const StringId step = store.strings.Intern("step");
  const StringId launch = store.strings.Intern("cudaLaunchKernel_v7000");
  std::vector<StringId> operators;
  std::vector<StringId> names;
  for (int i = 0; i < 40; ++i) {
    operators.push_back(store.strings.Intern("aten::op" + std::to_string(i)));
    names.push_back(store.strings.Intern("kernel_" + std::to_string(i)));
  }
  store.kernel_launches.Append({.grid_x = 128, .block_x = 256});
  for (size_t i = 0; i < kernels; ++i) {
    const int64_t at = static_cast<int64_t>(i) * 5000;
    if (i % kStepKernels == 0) {
      store.nvtx_ranges.Append({.start_ns = at,
                                .end_ns = at + kStepKernels * 5000 - 10,
                                .thread = thread,
                                .end_thread = thread,
                                .message = step});
    }
    store.operator_calls.Append({.start_ns = at + 20,
                                 .end_ns = at + 4900,
                                 .thread = thread,
                                 .name = operators[i % 40],
                                 .sequence = static_cast<int64_t>(i)});
    store.api_calls.Append({.start_ns = at + 1000,
                            .end_ns = at + 4000,
                            .thread = thread,
                            .name = launch,
                            .correlation = static_cast<uint32_t>(i + 1)});
    store.kernels.Append({.start_ns = at + 6000,
                          .end_ns = at + 9000,
                          .process = ProcessId::At(0),
                          .correlation = static_cast<uint32_t>(i + 1),
                          .stream = 7,
                          .demangled_name = names[i % 40],
                          .short_name = names[i % 40],
                          .launch = 0,
                          .api_call = ApiCallId::At(i)});
  }
  store.duration_ns = static_cast<int64_t>(kernels) * 5000 + 9000;
  return store;
}

void BM_SummaryOfGpuEvents(benchmark::State& state) {
  const Store store = GpuRun(1'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(SummaryAsText(BuildOverview(store), {}).size());
  }
}
BENCHMARK(BM_SummaryOfGpuEvents)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void BM_PhaseEventsOfGpuEvents(benchmark::State& state) {
  const Store store = GpuRun(1'000'000);
  const RunOverview overview = BuildOverview(store);
  for (auto _ : state) benchmark::DoNotOptimize(PhaseEventsOf(overview)->tracks.size());
}
BENCHMARK(BM_PhaseEventsOfGpuEvents)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

}  // namespace
}  // namespace batchlight::bench

BENCHMARK_MAIN();
