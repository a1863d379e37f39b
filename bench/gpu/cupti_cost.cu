// What each kind of CUPTI record costs the thread that makes the calls, before, while and after it
// is enabled: ns per call. One configuration a process, since CUPTI keeps what it once set up.
//
//   nvcc -O2 cupti_cost.cu -o cupti_cost -I$CUDA/include -L$CUDA/lib64 -lcupti -lcuda
//   for i in $(seq 0 16); do ./cupti_cost $i; done
//
// From the environment: BUFFER_MB (default 2), ZEROED (1), PER_THREAD (1), FLUSH_MS (1000).
#include <cupti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

__global__ void Empty() {}

static long Environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atol(text) : otherwise;
}

static const size_t kBytes = static_cast<size_t>(Environment("BUFFER_MB", 2)) << 20;
static std::mutex pool_mutex;
static std::vector<uint8_t*> pool;
static std::atomic<uint64_t> records{0};

static void CUPTIAPI Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  const std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool.empty()) {
    *buffer = static_cast<uint8_t*>(calloc(1, kBytes));
  } else {
    *buffer = pool.back();
    pool.pop_back();
  }
  *size = kBytes;
  *max_records = 0;
}

static void CUPTIAPI Complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) ++records;
  std::memset(buffer, 0, valid);
  const std::lock_guard<std::mutex> lock(pool_mutex);
  pool.push_back(buffer);
}

using Clock = std::chrono::steady_clock;

// Median over batches of launches, so that a flush or a full queue is one batch only.
static double NsPer(const std::function<void()>& call) {
  constexpr int kBatches = 60, kCalls = 500;
  std::vector<double> ns;
  for (int batch = 0; batch < kBatches; ++batch) {
    cudaDeviceSynchronize();
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCalls);
  }
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

struct Setting {
  const char* name;
  std::vector<CUpti_ActivityKind> kinds;
  std::vector<uint32_t> runtime = {};  // calls, by cuptiActivityEnableRuntimeApi
  std::vector<uint32_t> driver = {};
  std::vector<uint32_t> runtime_callbacks = {};
  std::vector<uint32_t> driver_callbacks = {};
  bool by_kind = false;  // ends single calls with cuptiActivityDisable(kind)
};

static void Set(const Setting& s, CUpti_SubscriberHandle subscriber, bool on) {
  for (auto kind : s.kinds) on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
  if (!on && s.by_kind) {
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
    cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
  } else {
    for (uint32_t cbid : s.runtime) {
      const CUptiResult result = cuptiActivityEnableRuntimeApi(cbid, on);
      if (result != CUPTI_SUCCESS) std::printf("  call %u: %d\n", cbid, static_cast<int>(result));
    }
    for (uint32_t cbid : s.driver) cuptiActivityEnableDriverApi(cbid, on);
  }
  for (uint32_t cbid : s.runtime_callbacks) {
    cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, cbid);
  }
  for (uint32_t cbid : s.driver_callbacks) {
    cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, cbid);
  }
}

static void Measure(const char* name, const char* phase) {
  static cudaEvent_t event = [] {
    cudaEvent_t created;
    cudaEventCreateWithFlags(&created, cudaEventDisableTiming);
    return created;
  }();
  static char* device = [] {
    void* memory;
    cudaMalloc(&memory, 4096);
    return static_cast<char*>(memory);
  }();
  records = 0;
  const double launch = NsPer([] { Empty<<<1, 1>>>(); });
  const double record = NsPer([] { cudaEventRecord(event); });
  const double set = NsPer([] { cudaMemsetAsync(device, 0, 512); });
  const double runtime = NsPer([] {
    int current;
    cudaGetDevice(&current);
  });
  const double driver = NsPer([] {
    CUcontext current;
    cuCtxGetCurrent(&current);
  });
  cudaDeviceSynchronize();
  cuptiActivityFlushAll(0);
  std::printf("%-40s %-7s %8.0f %8.0f %8.0f %8.0f %8.0f %9llu\n", name, phase, launch, record, set,
              runtime, driver, static_cast<unsigned long long>(records.load()));
}

std::vector<Setting> Settings() {
  const auto K = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  const auto R = CUPTI_ACTIVITY_KIND_RUNTIME;
  const auto D = CUPTI_ACTIVITY_KIND_DRIVER;
  const auto M = CUPTI_ACTIVITY_KIND_MEMCPY;
  const auto Z = CUPTI_ACTIVITY_KIND_MEMSET;
  // cudaLaunchKernel, cudaLaunchKernelExC, __cudaLaunchKernel, cudaMemcpyAsync, cudaMemsetAsync
  const std::vector<uint32_t> runtime = {211, 430, 505, 41, 51};
  const std::vector<uint32_t> driver = {307, 652};  // cuLaunchKernel, cuLaunchKernelEx
  // As in src/inject/cupti/waits.cpp.
  const std::vector<uint32_t> runtime_waits = {126, 131, 137, 147, 165, 239, 247};
  const std::vector<uint32_t> driver_waits = {17, 121, 126, 295, 436, 440, 800};
  return {
      {"kernel", {K}},
      {"runtime, all calls", {R}},
      {"runtime, launches", {}, runtime},
      {"driver, all calls", {D}},
      {"driver, launches", {}, {}, driver},
      {"kernel + runtime, all", {K, R}},
      {"kernel + runtime, launches", {K}, runtime},
      {"kernel + driver, launches", {K}, {}, driver},
      {"kernel + both, launches", {K}, runtime, driver},
      {"the floor: kernel, runtime, copies, sets", {K, R, M, Z}},
      {"kernel, launches of both, copies, sets", {K, M, Z}, runtime, driver},
      {"the same, ended by kind", {K, M, Z}, runtime, driver, {}, {}, true},
      {"+ graph", {K, M, Z, CUPTI_ACTIVITY_KIND_GRAPH_TRACE}, runtime, driver},
      {"+ waits", {K, M, Z, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION}, runtime, driver},
      {"+ overhead", {K, M, Z, CUPTI_ACTIVITY_KIND_OVERHEAD}, runtime, driver},
      {"ours, callbacks of runtime waits", {K, M, Z}, runtime, driver, runtime_waits},
      {"ours, callbacks of driver waits", {K, M, Z}, runtime, driver, {}, driver_waits},
      {"ours, callbacks of both waits", {K, M, Z}, runtime, driver, runtime_waits, driver_waits},
      {"callbacks of runtime launches", {}, {}, {}, runtime},
      {"callbacks of driver launches", {}, {}, {}, {}, driver},
      {"nothing", {}},
  };
}

void Subscribe(CUpti_SubscriberHandle* subscriber) {
  cuptiSubscribe(
      subscriber, [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}, nullptr);
  cuptiActivityRegisterCallbacks(Request, Complete);
}

int main(int argc, char** argv) {
  const std::vector<Setting> settings = Settings();
  const size_t chosen = argc > 1 ? static_cast<size_t>(std::atol(argv[1])) : settings.size() - 1;
  if (chosen >= settings.size()) return 2;
  const Setting& s = settings[chosen];
  const bool twice = argc > 2 && std::strcmp(argv[2], "twice") == 0;

  uint8_t zeroed = static_cast<uint8_t>(Environment("ZEROED", 1));
  uint8_t per_thread = static_cast<uint8_t>(Environment("PER_THREAD", 1));
  size_t one = 1;
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &one, &zeroed);
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &one, &per_thread);
  for (int i = 0; i < 8; ++i) pool.push_back(static_cast<uint8_t*>(calloc(1, kBytes)));
  for (uint8_t* buffer : pool) std::memset(buffer, 0, kBytes);
  CUpti_SubscriberHandle subscriber;
  Subscribe(&subscriber);
  if (argc > 2 && std::strcmp(argv[2], "early") == 0) Set(s, subscriber, true);
  cudaFree(nullptr);
  std::atomic<bool> stop{false};
  const long flush_ms = Environment("FLUSH_MS", 1000);
  std::thread flusher([&] {
    while (!stop && flush_ms > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(flush_ms));
      cuptiActivityFlushAll(0);
    }
  });
  Measure(s.name, "before");
  for (int round = 0; round < (twice ? 2 : 1); ++round) {
    const auto start = Clock::now();
    Set(s, subscriber, true);
    const double on_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    Measure(s.name, "on");
    const auto end = Clock::now();
    Set(s, subscriber, false);
    const double off_us = std::chrono::duration<double, std::micro>(Clock::now() - end).count();
    Measure(s.name, "after");
    if (twice) std::printf("  on in %.0f us, off in %.0f us\n", on_us, off_us);
  }
  stop = true;
  flusher.join();
  if (argc > 2 && std::strcmp(argv[2], "finalize") == 0) {
    cuptiActivityFlushAll(1);
    std::printf("  cuptiFinalize: %d\n", static_cast<int>(cuptiFinalize()));
    Measure(s.name, "final");
    Subscribe(&subscriber);
    Set(s, subscriber, true);
    Measure(s.name, "again");
    Set(s, subscriber, false);
    Measure(s.name, "after");
  }
  std::fflush(stdout);
  std::_Exit(0);
}
