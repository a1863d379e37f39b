// What one recorded event costs the program, through the real library as a program meets it: NVTX
// calls as the NVTX header makes them, operators through the C table.
//
//   build/release/bench/inject_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
//
// PushPopNoTool is what the calls cost with nobody listening. BATCHLIGHT_BENCH_CHUNK_BYTES sets the
// largest chunk.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "inject/native_api.h"
#include "inject/nvtx/nvtx_abi.h"
#include "inject/testing/live_session.h"

namespace {

using namespace batchlight::inject;
namespace abi = batchlight::inject::nvtx;

// The header's function pointers; as there, a null one is skipped.
struct Nvtx {
  int (*push)(const char*) = nullptr;
  int (*pop)() = nullptr;
  int (*push_ex)(const void*, const abi::EventAttributes*) = nullptr;
  int (*pop_domain)(const void*) = nullptr;
  uint64_t (*start)(const char*) = nullptr;
  void (*end)(uint64_t) = nullptr;
  const void* (*create)(const char*) = nullptr;
  const void* (*register_string)(const void*, const char*) = nullptr;
} g_nvtx;

abi::Function* g_core[16];
abi::Function* g_core2[16];

int ModuleFunctions(int module, abi::Function*** functions, unsigned* count) {
  if (module != abi::kCore && module != abi::kCore2) return 0;
  *functions = module == abi::kCore ? g_core : g_core2;
  *count = 16;
  return 1;
}

const void* ExportTable(uint32_t id) {
  static const abi::CallbacksTable callbacks = {sizeof callbacks, ModuleFunctions};
  return id == abi::kCallbacksTable ? &callbacks : nullptr;
}

template <class F>
void Connect(abi::Function** table, int index, F** function) {
  table[index] = reinterpret_cast<abi::Function*>(function);
}

const batchlight_native_api_t* g_api = nullptr;

void Load() {
  static LiveSession session;
  session.SetEnvironment();
  if (const char* bytes = std::getenv("BATCHLIGHT_BENCH_CHUNK_BYTES")) {
    session.page().max_chunk_bytes = static_cast<uint32_t>(std::atoi(bytes));
  }
  const char* path = std::getenv("BATCHLIGHT_INJECT_LIBRARY");
  void* library = dlopen(path != nullptr ? path : BATCHLIGHT_INJECT_LIBRARY, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  Connect(g_core, abi::kRangePushA, &g_nvtx.push);
  Connect(g_core, abi::kRangePop, &g_nvtx.pop);
  Connect(g_core, abi::kRangeStartA, &g_nvtx.start);
  Connect(g_core, abi::kRangeEnd, &g_nvtx.end);
  Connect(g_core2, abi::kDomainRangePushEx, &g_nvtx.push_ex);
  Connect(g_core2, abi::kDomainRangePop, &g_nvtx.pop_domain);
  Connect(g_core2, abi::kDomainCreateA, &g_nvtx.create);
  Connect(g_core2, abi::kDomainRegisterStringA, &g_nvtx.register_string);
  auto initialize = reinterpret_cast<int (*)(const void* (*)(uint32_t))>(
      dlsym(library, "InitializeInjectionNvtx2"));
  auto api =
      reinterpret_cast<decltype(&batchlight_native_api)>(dlsym(library, "batchlight_native_api"));
  if (initialize(ExportTable) == 0 || (g_api = api()) == nullptr) std::exit(1);
}

void PushPop(benchmark::State& state) {
  for (auto _ : state) {
    if (g_nvtx.push != nullptr) g_nvtx.push("forward pass");
    if (g_nvtx.pop != nullptr) g_nvtx.pop();
  }
}

void PushPopNoTool(benchmark::State& state) {
  static Nvtx none;
  for (auto _ : state) {
    benchmark::DoNotOptimize(none);
    if (none.push != nullptr) none.push("forward pass");
    if (none.pop != nullptr) none.pop();
  }
}
BENCHMARK(PushPopNoTool);

void PushPopManyNames(benchmark::State& state) {
  std::string names[64];
  for (int i = 0; i < 64; ++i) names[i] = "encoder.layers." + std::to_string(i) + ".linear1";
  unsigned i = 0;
  for (auto _ : state) {
    g_nvtx.push(names[i++ % 64].c_str());
    g_nvtx.pop();
  }
}

void PushPopDomain(benchmark::State& state) {
  const void* domain = g_nvtx.create("bench");
  abi::EventAttributes attributes = {};
  attributes.version = 3;
  attributes.size = sizeof attributes;
  attributes.message_type = abi::kRegistered;
  attributes.message = g_nvtx.register_string(domain, "forward pass");
  attributes.payload_type = abi::kUint64;
  for (auto _ : state) {
    ++attributes.payload;
    g_nvtx.push_ex(domain, &attributes);
    g_nvtx.pop_domain(domain);
  }
}

void StartEnd(benchmark::State& state) {
  for (auto _ : state) g_nvtx.end(g_nvtx.start("forward pass"));
}

void Operator(benchmark::State& state) {
  int64_t sequence = 0;
  for (auto _ : state) {
    if (g_api->op_begin("aten::linear", ++sequence, 0, 0, nullptr, 0) != 0) g_api->op_end();
  }
}

// As between the operators of a program: its data has gone through the caches (range(0) KiB of it),
// and the name is one of 40. median_ns includes a read of the clock, some 20 ns.
void OperatorAfterData(benchmark::State& state) {
  const auto bytes = static_cast<size_t>(state.range(0)) << 10;
  std::vector<char> data(size_t{32} << 20, 1);
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("aten::some_operator_" + std::to_string(i));
  size_t from = 0;
  int64_t sequence = 0;
  std::vector<double> times;
  for (auto _ : state) {
    for (size_t at = 0; at < bytes; at += 64) ++data[(from + at) % data.size()];
    from = (from + bytes) % data.size();
    const char* const name = names[static_cast<size_t>(++sequence) % names.size()].c_str();
    const auto start = std::chrono::steady_clock::now();
    if (g_api->op_begin(name, sequence, 0, 0, nullptr, 0) != 0) g_api->op_end();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    times.push_back(spent.count());
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  state.counters["median_ns"] = *middle;
}

void OperatorWithShapes(benchmark::State& state) {
  const char shapes[54] = {3, 6, 64, 0, 0, 0, 0, 0, 0, 0, 2};
  int64_t sequence = 0;
  for (auto _ : state) {
    if (g_api->op_begin("aten::linear", ++sequence, 0, 0, shapes, sizeof shapes) != 0) {
      g_api->op_end();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Load();
  benchmark::RegisterBenchmark("PushPop", PushPop)->ThreadRange(1, 2);
  benchmark::RegisterBenchmark("PushPopManyNames", PushPopManyNames);
  benchmark::RegisterBenchmark("PushPopDomain", PushPopDomain)->ThreadRange(1, 2);
  benchmark::RegisterBenchmark("StartEnd", StartEnd)->ThreadRange(1, 2);
  benchmark::RegisterBenchmark("Operator", Operator)->ThreadRange(1, 2);
  benchmark::RegisterBenchmark("OperatorWithShapes", OperatorWithShapes);
  benchmark::RegisterBenchmark("OperatorAfterData", OperatorAfterData)
      ->Arg(0)
      ->Arg(256)
      ->Arg(1024)
      ->Arg(4096)
      ->Iterations(10000);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
