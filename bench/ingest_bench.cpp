// Reading recordings: time and resident memory an event.
//
//   ingest_bench                        sealed and live, 10 million events
//   ingest_bench --make FOLDER EVENTS   only writes such a recording, for other measurements
//
// Limits: 0.2 µs an event on 2 cores, 64 bytes an event resident.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"
#include "tests/support/sealed_bytes.h"
#include "training_recording.h"

namespace batchlight::bench {
namespace {

constexpr uint64_t kEvents = 10'000'000;

std::string Folder() {
  static const std::string folder = [] {
    char name[] = "/tmp/bl_ingest_bench_XXXXXX";
    return std::string(mkdtemp(name));
  }();
  return folder;
}

void Read(benchmark::State& state, const std::string& path) {
  size_t resident_bytes = 0;
  double elapsed_ns = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    Result<Store> store = ReadRecording(path);
    elapsed_ns +=
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    if (!store.ok()) return state.SkipWithError(store.status().message().c_str());
    resident_bytes = store->resident_bytes();
    benchmark::DoNotOptimize(store->nvtx_ranges.start_ns.data());
  }
  const auto events = static_cast<double>(kEvents);
  state.counters["ns_per_event"] = elapsed_ns / static_cast<double>(state.iterations()) / events;
  state.counters["resident_bytes_per_event"] = static_cast<double>(resident_bytes) / events;
  state.counters["file_bytes_per_event"] = [&] {
    const bool folder = std::filesystem::is_directory(path);
    return static_cast<double>(std::filesystem::file_size(folder ? path + "/100-1000.blp" : path)) /
           events;
  }();
}

void BM_ReadLive(benchmark::State& state) {
  const std::string path = Folder() + "/a.batchlight.live";
  if (!WriteLiveFolder(TrainingRecording(kEvents), path).ok()) std::abort();
  Read(state, path);
}
BENCHMARK(BM_ReadLive)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

void BM_ReadSealed(benchmark::State& state) {
  const std::string path = Folder() + "/a.batchlight";
  {
    const std::string bytes = testing_support::SealedBytes(TrainingRecording(kEvents), true);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  }
  Read(state, path);
}
BENCHMARK(BM_ReadSealed)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

}  // namespace
}  // namespace batchlight::bench

int main(int argc, char** argv) {
  using namespace batchlight;
  if (argc == 4 && std::string_view(argv[1]) == "--make") {
    const Status status =
        WriteLiveFolder(bench::TrainingRecording(std::strtoull(argv[3], nullptr, 10)), argv[2]);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
    return status.exit_code();
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(bench::Folder());
}
