// The CUDA side of the fake: turns calls into CUPTI's records.
#include "fakes/fake_cuda.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "fakes/fake_cupti.h"

using namespace batchlight::inject::cupti;
using namespace fake_cupti;

namespace {

constexpr uint32_t kLaunchKernel = 211, kDriverLaunchKernel = 307, kDriverGraphLaunch = 514,
                   kLaunchKernelEx = 652, kMemcpyAsync = 41, kMemsetAsync = 51,
                   kStreamSynchronize = 131, kEventRecord = 135, kGraphLaunchCall = 311,
                   kMalloc = 20, kFree = 22, kGetDevice = 17, kDeviceReset = 164,
                   kDriverStreamSynchronize = 126, kStreamWaitEvent = 147, kEventSynchronize = 137,
                   kDeviceSynchronize = 165, kDriverStreamWaitEventPtsz = 436,
                   kStreamBeginCapture = 539, kStreamEndCapture = 497;

// A call being made: takes a correlation id when it is recorded, writes its record at the end.
class Call {
 public:
  explicit Call(uint32_t cbid, uint32_t domain = kRuntimeApi, const void* parameters = nullptr,
                uint32_t result = 0, const char* symbol = nullptr)
      : cbid_(cbid),
        domain_(domain),
        correlation_(NextCorrelation()),
        result_(result),
        start_(Now()) {
    data_.parameters = parameters;
    data_.return_value = &result_;
    data_.context_id = 1;
    data_.symbol_name = symbol;
    data_.correlation_data = &shared_;
    data_.correlation = correlation_;
    InvokeCallback(domain, cbid, data_);
  }
  ~Call() {
    data_.site = 1;
    InvokeCallback(domain_, cbid_, data_);
    if (!CallEnabled(domain_, cbid_)) return;
    ApiActivity api{};
    api.kind = domain_ == kDriverApi ? kDriver : kRuntime;
    api.cbid = cbid_;
    api.start = start_;
    api.end = Now();
    api.process = static_cast<uint32_t>(getpid());
    api.thread = ThreadId();
    api.correlation = correlation_;
    api.result = result_;
    Emit(&api, sizeof api, 40);
  }
  uint32_t correlation() const { return correlation_; }
  uint64_t start() const { return start_; }

 private:
  uint32_t cbid_, domain_, correlation_, result_;
  uint64_t start_;
  uint64_t shared_ = 0;
  CallbackData data_{};
};

// The driver's call within one of the runtime's, which has no record of its own.
class InnerCall {
 public:
  InnerCall(uint32_t cbid, uint32_t correlation, const char* symbol = nullptr, uint32_t result = 0)
      : cbid_(cbid), result_(result) {
    data_.return_value = &result_;
    data_.context_id = 1;
    data_.symbol_name = symbol;
    data_.correlation_data = &shared_;
    data_.correlation = correlation;
    InvokeCallback(kDriverApi, cbid, data_);
  }
  ~InnerCall() {
    data_.site = 1;
    InvokeCallback(kDriverApi, cbid_, data_);
  }

 private:
  const uint32_t cbid_;
  uint32_t result_;
  uint64_t shared_ = 0;
  CallbackData data_{};
};

// cudaStream_t and cudaEvent_t: cuptiGetStreamIdEx() of the fake takes them apart.
const void* Handle(uint32_t id) {
  return reinterpret_cast<const void*>(id <= 2 ? uintptr_t{id} : uintptr_t{id} << 4);
}

uint32_t SizeSince(uint32_t version, uint32_t before, uint32_t after) {
  return Version() >= version ? after : before;
}

// Of a graph that is not recorded as a whole: a set and two kernels, one after the other.
void EmitNodes(uint64_t called, uint32_t correlation, uint32_t graph, uint32_t stream,
               uint32_t duration_ns) {
  const uint64_t start = called + 4000;
  const auto fill = [&](auto& node, uint64_t number) {
    node.start = start + (number - 1) * duration_ns / 3;
    node.end = node.start + duration_ns / 3;
    node.context = 1;
    node.stream = stream;
    node.correlation = correlation;
    node.graph_node = uint64_t{graph} << 32 | number;
  };
  if (KindEnabled(kMemset)) {
    MemsetActivity set{};
    set.kind = kMemset;
    set.memory_kind = 3;
    fill(set, 1);
    Emit(&set, sizeof set, 88);
  }
  if (!KindEnabled(kConcurrentKernel)) return;
  for (const uint64_t number : {2, 3}) {
    KernelActivity kernel{};
    kernel.kind = kConcurrentKernel;
    kernel.registers_per_thread = 32;
    kernel.name = "_ZN7in_nodeEv";
    for (int32_t& size : kernel.grid) size = 1;
    for (int32_t& size : kernel.block) size = 1;
    for (uint32_t& size : kernel.cluster) size = 1;
    fill(kernel, number);
    Emit(&kernel, sizeof kernel, SizeSince(130000, 208, 216));
  }
}

}  // namespace

extern "C" {

void fake_cuda_init() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || path[0] == 0) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "fake CUDA: %s\n", dlerror());
    return;
  }
  if (auto* initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) {
    initialize();
  }
  if (std::getenv("FAKE_CUDA_NO_CONTEXT") != nullptr) return;  // the program only asks for GPUs
  EmitDevice();
  InvokeResource(kContextCreated, nullptr);
}

uint32_t fake_cuda_launch(const fake_launch* launch) {
  const bool is_direct = launch->through_driver != 0;
  const uint32_t driver_call =
      launch->through_driver > 1 ? launch->through_driver : kLaunchKernelEx;
  Call call(is_direct ? driver_call : kLaunchKernel, is_direct ? kDriverApi : kRuntimeApi, nullptr,
            0, launch->name);
  std::optional<InnerCall> inner;
  if (!is_direct) inner.emplace(kDriverLaunchKernel, call.correlation(), launch->name);
  CountKernel();
  const size_t replays = RunsOfKernel();
  if (replays == 0) inner.reset();
  SampleKernel(launch->name, call.correlation());
  if (!KindEnabled(kConcurrentKernel)) return call.correlation();
  KernelActivity kernel{};
  kernel.kind = kConcurrentKernel;
  kernel.cache_config = 0x10;
  kernel.registers_per_thread = 32;
  if (replays == 0) {  // CUPTI tells no times of what it replays
    kernel.start = call.start() + 2000;
    kernel.end = kernel.start + launch->duration_ns;
  }
  kernel.context = 1;
  kernel.stream = launch->stream;
  std::memcpy(kernel.grid, launch->grid, sizeof kernel.grid);
  std::memcpy(kernel.block, launch->block, sizeof kernel.block);
  kernel.dynamic_shared = 1024;
  kernel.correlation = call.correlation();
  kernel.name = launch->name;
  kernel.shared_executed = 8192;
  kernel.graph_node = launch->graph_node;
  for (uint32_t& size : kernel.cluster) size = 1;
  Emit(&kernel, sizeof kernel, SizeSince(130000, 208, 216));
  // CUPTI comes back when the GPU is done with all passes.
  if (replays != 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return call.correlation();
}

void fake_cuda_refused_launch(const char* name) {
  constexpr uint32_t kInvalidValue = 1;
  const Call call(kLaunchKernel, kRuntimeApi, nullptr, kInvalidValue, name);
  const InnerCall inner(kDriverLaunchKernel, call.correlation(), name, kInvalidValue);
}

uint32_t fake_cuda_memcpy_async(uint32_t kind, uint64_t bytes, uint32_t stream,
                                uint32_t duration_ns) {
  Call call(kMemcpyAsync);
  if (kind == 10) {
    if (!KindEnabled(kMemcpyPeer)) return call.correlation();
    MemcpyPeerActivity copy{};
    copy.kind = kMemcpyPeer;
    copy.copy_kind = 10;
    copy.source_kind = copy.destination_kind = 3;
    copy.bytes = bytes;
    copy.start = call.start() + 1500;
    copy.end = copy.start + duration_ns;
    copy.context = 1;
    copy.stream = stream;
    copy.destination_device = 1;
    copy.correlation = call.correlation();
    Emit(&copy, sizeof copy, 96);
    return call.correlation();
  }
  if (!KindEnabled(kMemcpy)) return call.correlation();
  MemcpyActivity copy{};
  copy.kind = kMemcpy;
  copy.copy_kind = static_cast<uint8_t>(kind);
  copy.source_kind = kind == 1 ? 1 : 3;
  copy.destination_kind = kind == 2 ? 2 : 3;
  copy.flags = 1;
  copy.bytes = bytes;
  copy.start = call.start() + 1500;
  copy.end = copy.start + duration_ns;
  copy.context = 1;
  copy.stream = stream;
  copy.correlation = call.correlation();
  Emit(&copy, sizeof copy, SizeSince(kVersion12_8, 88, 96));
  return call.correlation();
}

uint32_t fake_cuda_copy_from(const void* from, uint64_t bytes) {
  const struct {
    void* to;
    const void* from;
    size_t bytes;
    uint32_t kind;
    void* stream;
  } parameters = {nullptr, from, bytes, 1, nullptr};
  Call call(kMemcpyAsync, kRuntimeApi, &parameters);
  return call.correlation();
}

uint32_t fake_cuda_memset_async(uint32_t value, uint64_t bytes, uint32_t stream,
                                uint32_t duration_ns) {
  Call call(kMemsetAsync);
  if (!KindEnabled(kMemset)) return call.correlation();
  MemsetActivity set{};
  set.kind = kMemset;
  set.value = value;
  set.bytes = bytes;
  set.start = call.start() + 1000;
  set.end = set.start + duration_ns;
  set.context = 1;
  set.stream = stream;
  set.memory_kind = 3;
  set.correlation = call.correlation();
  Emit(&set, sizeof set, 88);
  return call.correlation();
}

uint32_t fake_cuda_stream_synchronize(uint32_t stream, uint32_t duration_ns) {
  const void* const parameters[] = {Handle(stream)};
  Call call(kStreamSynchronize, kRuntimeApi, parameters);
  {  // the runtime waits through the driver: callbacks come, a second record does not
    CallbackData inner{};
    uint64_t shared = 0;
    inner.parameters = parameters;
    inner.correlation = call.correlation();
    inner.correlation_data = &shared;
    InvokeCallback(kDriverApi, kDriverStreamSynchronize, inner);
    inner.site = 1;
    InvokeCallback(kDriverApi, kDriverStreamSynchronize, inner);
  }
  if (!KindEnabled(kSynchronization)) return call.correlation();
  SynchronizationActivity wait{};
  wait.kind = kSynchronization;
  wait.type = 3;
  wait.start = call.start();
  wait.end = wait.start + duration_ns;
  wait.correlation = call.correlation();
  wait.context = 1;
  wait.stream = stream;
  wait.event = 0xffffffff;
  Emit(&wait, sizeof wait, SizeSince(kVersion12_8, 40, 56));
  return call.correlation();
}

uint32_t fake_cuda_stream_wait_event(uint32_t stream, uint32_t event, uint32_t result) {
  const void* const parameters[] = {Handle(stream), Handle(event), nullptr};
  return Call(kStreamWaitEvent, kRuntimeApi, parameters, result).correlation();
}
uint32_t fake_cuda_driver_stream_wait_event(uint32_t stream, uint32_t event) {
  const void* const parameters[] = {Handle(stream), Handle(event), nullptr};
  return Call(kDriverStreamWaitEventPtsz, kDriverApi, parameters).correlation();
}
uint32_t fake_cuda_event_synchronize(uint32_t event) {
  const void* const parameters[] = {Handle(event)};
  return Call(kEventSynchronize, kRuntimeApi, parameters).correlation();
}
uint32_t fake_cuda_device_synchronize() { return Call(kDeviceSynchronize).correlation(); }

void fake_cuda_begin_capture(uint32_t stream) {
  const Call call(kStreamBeginCapture, kDriverApi);
  SetCapturing(Handle(stream));
}
uint32_t fake_cuda_end_capture() {
  constexpr uint32_t kStreamCaptureInvalidated = 901;
  const uint32_t result = CaptureWasBroken() ? kStreamCaptureInvalidated : 0;
  const Call call(kStreamEndCapture, kDriverApi, nullptr, result);
  SetCapturing(nullptr);
  return CaptureWasBroken() ? kStreamCaptureInvalidated : result;
}

uint32_t fake_cuda_event_record(uint32_t event, uint32_t stream) {
  Call call(kEventRecord);
  if (!KindEnabled(kCudaEvent)) return call.correlation();
  CudaEventActivity record{};
  record.kind = kCudaEvent;
  record.correlation = call.correlation();
  record.context = 1;
  record.stream = stream;
  record.event = event;
  if (Version() >= kVersion12_8) record.device_timestamp = call.start() + 3000;
  Emit(&record, sizeof record, SizeSince(kVersion12_8, 24, 56));
  return call.correlation();
}

uint32_t fake_cuda_graph_launch(uint32_t graph, uint32_t stream, uint32_t duration_ns) {
  if (GraphTraceWasLate()) std::abort();
  Call call(kGraphLaunchCall);
  {
    const InnerCall inner(kDriverGraphLaunch, call.correlation());
    CountGraph();
  }
  if (!KindEnabled(kGraphTrace)) {
    EmitNodes(call.start(), call.correlation(), graph, stream, duration_ns);
    return call.correlation();
  }
  GraphTraceActivity run{};
  run.kind = kGraphTrace;
  run.correlation = call.correlation();
  run.start = call.start() + 4000;
  run.end = run.start + duration_ns;
  run.graph = graph;
  run.context = 1;
  run.stream = stream;
  Emit(&run, sizeof run, SizeSince(kVersion12_8, 48, 56));
  return call.correlation();
}

static uint32_t Memory(uint32_t cbid, uint32_t operation, uint64_t address, uint64_t bytes) {
  Call call(cbid);
  if (!KindEnabled(kMemory)) return call.correlation();
  MemoryActivity memory{};
  memory.kind = kMemory;
  memory.operation = operation;
  memory.memory_kind = 3;
  memory.correlation = call.correlation();
  memory.address = address;
  memory.bytes = bytes;
  memory.timestamp = call.start();
  memory.process = static_cast<uint32_t>(getpid());
  memory.context = 1;
  memory.stream = 0xffffffff;
  Emit(&memory, sizeof memory, SizeSince(kVersion12_8, 120, 128));
  return call.correlation();
}
uint32_t fake_cuda_malloc(uint64_t address, uint64_t bytes) {
  return Memory(kMalloc, 1, address, bytes);
}
uint32_t fake_cuda_free(uint64_t address, uint64_t bytes) {
  return Memory(kFree, 2, address, bytes);
}

uint32_t fake_cuda_get_device() { return Call(kGetDevice).correlation(); }

void fake_cuda_cpu_page_fault(uint64_t address) {
  if (!KindEnabled(kUnifiedMemoryCounter)) return;
  UnifiedMemoryActivity fault{};
  fault.kind = kUnifiedMemoryCounter;
  fault.counter = 3;
  fault.value = 0x401a;  // where the code stands
  fault.start = fault.end = Now();
  fault.address = address;
  fault.process = static_cast<uint32_t>(getpid());
  Emit(&fault, sizeof fault, SizeSince(130000, 64, 104));
}

void fake_cuda_graph_node(uint64_t node, uint64_t clone) {
  GraphData data{};
  data.node = reinterpret_cast<void*>(node);
  InvokeResource(kGraphNodeCreated, &data);
  data.node = reinterpret_cast<void*>(clone);
  data.original_node = reinterpret_cast<void*>(node);
  InvokeResource(kGraphNodeCloned, &data);
}

void fake_cuda_profiler_start() { Call call(kRuntimeProfilerStart); }
void fake_cuda_profiler_stop() { Call call(kRuntimeProfilerStop); }

void fake_cuda_new_context() {
  EmitDevice();
  InvokeResource(kContextCreated, nullptr);
}

uint32_t fake_cuda_out_of_memory() {
  constexpr uint32_t kOutOfMemory = 2;
  return Call(kMalloc, kRuntimeApi, nullptr, kOutOfMemory).correlation();
}

void fake_cuda_device_reset() {
  Call call(kDeviceReset);
  InvokeResource(kContextDestroyStarting, nullptr);
}

}  // extern "C"
