// What CUPTI leaves behind on a training loop once it has recorded a window: one action at a time,
// under the control of window_cost.py, without anything of batchlight's recording.
//
//   g++ -O2 -std=c++20 -shared -fPIC cupti_window.cpp -o cupti_window.so -I../../src
//       -I$CUDA/include -L$CUDA/lib64 -lcupti
//
// As an injected library (CUDA_INJECTION64_PATH) it does the actions of CUPTI_WINDOW_INIT inside
// cuInit; window_do() does one at any time.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr uint32_t kTracedRuntime[] = {
#define TRACED(cbid, name) cbid,
#define QUIET(cbid, name)
#include "format/cuda_runtime_calls.def"
};
constexpr uint32_t kTracedDriver[] = {
#include "format/cuda_driver_calls.def"
};
#undef TRACED
#undef QUIET
constexpr uint32_t kQuietRuntime[] = {
#define TRACED(cbid, name)
#define QUIET(cbid, name) cbid,
#include "format/cuda_runtime_calls.def"
};
constexpr uint32_t kQuietDriver[] = {
#include "format/cuda_driver_calls.def"
};
#undef TRACED
#undef QUIET
// Waits: cudaStreamSynchronize, cudaEventSynchronize, cudaStreamWaitEvent, cudaDeviceSynchronize.
constexpr uint32_t kWaits[] = {131, 137, 147, 165};
constexpr uint32_t kDriverWaits[] = {17, 121, 126, 295};
constexpr uint32_t kEventRecord[] = {135, 370};
constexpr uint32_t kDriverGetVersion = 2;

CUpti_SubscriberHandle subscriber = nullptr;
std::atomic<uint64_t> kernels{0}, calls{0}, others{0}, callbacks{0};
std::atomic<bool> finalize_at_exit{false};
std::atomic<int> finalize_result{-1};

constexpr size_t kBytes = 2u << 20;

void CUPTIAPI Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(calloc(1, kBytes));
  *size = kBytes;
  *max_records = 0;
}

void CUPTIAPI Complete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        ++kernels;
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
      case CUPTI_ACTIVITY_KIND_DRIVER:
        ++calls;
        break;
      default:
        ++others;
    }
  }
  free(buffer);
}

void CUPTIAPI OnCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void* data) {
  ++callbacks;
  timespec now;  // what a record of the call would need
  clock_gettime(CLOCK_REALTIME, &now);
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == kDriverGetVersion &&
      static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT &&
      finalize_at_exit.exchange(false)) {
    finalize_result = static_cast<int>(cuptiFinalize());
  }
}

void EachCall(const uint32_t* list, size_t count, CUptiResult (*enable)(uint32_t, uint8_t),
              uint8_t on) {
  for (size_t i = 0; i < count; ++i) enable(list[i], on);
}

int RuntimeCall(uint32_t on) {
  EachCall(
      kTracedRuntime, std::size(kTracedRuntime),
      [](uint32_t c, uint8_t o) { return cuptiActivityEnableRuntimeApi(c, o); },
      static_cast<uint8_t>(on));
  EachCall(
      kTracedDriver, std::size(kTracedDriver),
      [](uint32_t c, uint8_t o) { return cuptiActivityEnableDriverApi(c, o); },
      static_cast<uint8_t>(on));
  return 0;
}

// The whole kind, less the calls that are of no interest.
int ByKind(bool on, bool with_driver) {
  if (on) {
    int result = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME);
    EachCall(
        kQuietRuntime, std::size(kQuietRuntime),
        [](uint32_t c, uint8_t o) { return cuptiActivityEnableRuntimeApi(c, o); }, 0);
    if (with_driver) {
      result |= cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER);
      EachCall(
          kQuietDriver, std::size(kQuietDriver),
          [](uint32_t c, uint8_t o) { return cuptiActivityEnableDriverApi(c, o); }, 0);
    }
    return result;
  }
  int result = cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (with_driver) result |= cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
  return result;
}

int Kind(CUpti_ActivityKind kind, bool on) {
  return on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
}

int Callbacks(CUpti_CallbackDomain domain, const uint32_t* list, size_t count, uint32_t on) {
  int result = 0;
  for (size_t i = 0; i < count; ++i) result |= cuptiEnableCallback(on, subscriber, domain, list[i]);
  return result;
}

int Attributes() {
  uint8_t one = 1;
  size_t bytes = 1;
  cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &one);
  return cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &one);
}

int One(const std::string& action) {
  const bool on = action.size() > 1 && action[0] == '+';
  const std::string what = action.substr(action.empty() ? 0 : 1);
  if (action == "subscribe") return cuptiSubscribe(&subscriber, OnCallback, nullptr);
  if (action == "unsubscribe") return cuptiUnsubscribe(subscriber);
  if (action == "register") return cuptiActivityRegisterCallbacks(Request, Complete);
  if (action == "attributes") return Attributes();
  if (action == "flush") return cuptiActivityFlushAll(0);
  if (action == "force") return cuptiActivityFlushAll(1);
  if (action == "finalize") return cuptiFinalize();
  if (action == "arm") {  // the next cuDriverGetVersion finalizes at its exit
    const int result =
        cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, kDriverGetVersion);
    finalize_at_exit = true;
    int version = 0;
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* call = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
    if (call != nullptr) call(&version);
    return result != 0 ? result : finalize_result.load();
  }
  if (what == "facts") {
    return Kind(CUPTI_ACTIVITY_KIND_DEVICE, on) | Kind(CUPTI_ACTIVITY_KIND_CONTEXT, on) |
           Kind(CUPTI_ACTIVITY_KIND_STREAM, on);
  }
  if (what == "context") {
    return cuptiEnableCallback(on, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                               CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  if (what == "calls") return RuntimeCall(on);
  if (what == "runtimekind") return ByKind(on, false);
  if (what == "bothkinds") return ByKind(on, true);
  if (what == "kernels") return Kind(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, on);
  if (what == "copies") {
    return Kind(CUPTI_ACTIVITY_KIND_MEMCPY, on) | Kind(CUPTI_ACTIVITY_KIND_MEMSET, on) |
           Kind(CUPTI_ACTIVITY_KIND_MEMCPY2, on);
  }
  if (what == "graphs") return Kind(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, on);
  if (what == "overhead") return Kind(CUPTI_ACTIVITY_KIND_OVERHEAD, on);
  if (what == "jit") return Kind(CUPTI_ACTIVITY_KIND_JIT, on);
  if (what == "waits") return Kind(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, on);
  if (what == "waitcallbacks") {
    return Callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, kWaits, std::size(kWaits), on) |
           Callbacks(CUPTI_CB_DOMAIN_DRIVER_API, kDriverWaits, std::size(kDriverWaits), on);
  }
  if (what == "runtimecallbacks") {
    return Callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, kTracedRuntime, std::size(kTracedRuntime), on);
  }
  if (what == "drivercallbacks") {
    return Callbacks(CUPTI_CB_DOMAIN_DRIVER_API, kTracedDriver, std::size(kTracedDriver), on);
  }
  if (what == "launchcallbacks") {  // cuLaunchKernel, cuLaunchKernelEx
    static constexpr uint32_t kLaunches[] = {307, 652};
    return Callbacks(CUPTI_CB_DOMAIN_DRIVER_API, kLaunches, std::size(kLaunches), on);
  }
  if (what == "eventcallbacks") {
    return Callbacks(CUPTI_CB_DOMAIN_RUNTIME_API, kEventRecord, std::size(kEventRecord), on);
  }
  return -2;
}

}  // namespace

extern "C" {

// Several actions in one word: "+kernels+copies" does not parse, "+kernels +copies" does. Returns
// the bit-wise or of CUPTI's results; -2 for an unknown action.
int window_do(const char* actions) {
  std::istringstream words(actions);
  std::string word;
  int result = 0;
  while (words >> word) {
    const int one = One(word);
    if (one != 0) std::printf("    %s: %d\n", word.c_str(), one);
    result |= one;
  }
  std::fflush(stdout);
  return result;
}

void window_counts(uint64_t* out) {
  out[0] = kernels.exchange(0);
  out[1] = calls.exchange(0);
  out[2] = others.exchange(0);
  out[3] = callbacks.exchange(0);
}

int InitializeInjection() {
  if (const char* actions = std::getenv("CUPTI_WINDOW_INIT")) window_do(actions);
  return 1;
}

}  // extern "C"
