// The CUPTI side of the fake: buffers, callbacks, flushes. As in CUPTI every thread fills a buffer
// of its own, a full buffer is handed to a worker thread, and FlushAll delivers on its caller.
#include "fakes/fake_cupti.h"

#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "fakes/fake_cuda.h"
#include "inject/cupti/driver_launches.h"

using namespace batchlight::inject::cupti;

namespace fake_cupti {
namespace {

struct Buffer {
  uint8_t* memory = nullptr;
  size_t bytes = 0;
  size_t used = 0;
};

struct ThreadBuffer {
  std::mutex mutex;
  Buffer buffer;
};

long FromEnvironment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtol(text, nullptr, 10) : otherwise;
}

// Never destroyed: the worker thread outlives main.
struct Fake {
  std::atomic<uint32_t> correlation{0};
  std::atomic<uint64_t> kinds{0};  // bit set of enabled kinds
  std::atomic<bool> has_context{false};
  std::atomic<bool> graph_trace_was_late{false};
  std::atomic<const void*> capturing{nullptr};
  std::atomic<bool> capture_broken{false};
  std::atomic<bool> page_faults_configured{false};
  std::atomic<uint8_t> hooked[2][1024]{};
  std::atomic<uint8_t> calls[2][1024]{};  // runtime, driver: enabled one by one
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  Callback callback = nullptr;
  void* user = nullptr;
  std::mutex callbacks_mutex;
  std::set<std::pair<uint32_t, uint32_t>> callbacks;

  std::mutex threads_mutex;
  std::vector<std::shared_ptr<ThreadBuffer>> threads;

  std::mutex queue_mutex;
  std::condition_variable queue_grew;
  std::deque<Buffer> queue;
  bool worker_started = false;

  std::atomic<uint64_t> dropped{0};
  std::atomic<uint64_t> dropped_unread{0};
  std::atomic<uint64_t> read{0};
  std::atomic<uint64_t> handed_out{0};
  std::atomic<uint64_t> dirty{0};
};

Fake& The() {
  static Fake* fake = new Fake;
  return *fake;
}

void Work() {
  Fake& fake = The();
  for (;;) {
    std::unique_lock lock(fake.queue_mutex);
    fake.queue_grew.wait(lock, [&] { return !fake.queue.empty(); });
    const Buffer full = fake.queue.front();
    fake.queue.pop_front();
    lock.unlock();
    fake.completed(nullptr, 0, full.memory, full.bytes, full.used);
  }
}

void HandOver(const Buffer& full) {
  Fake& fake = The();
  const std::lock_guard lock(fake.queue_mutex);
  fake.queue.push_back(full);
  if (!fake.worker_started) {
    fake.worker_started = true;
    std::thread(Work).detach();
  }
  fake.queue_grew.notify_one();
}

ThreadBuffer& MyBuffer() {
  thread_local std::shared_ptr<ThreadBuffer> mine = [] {
    auto created = std::make_shared<ThreadBuffer>();
    const std::lock_guard lock(The().threads_mutex);
    The().threads.push_back(created);
    return created;
  }();
  return *mine;
}

Buffer Request() {
  Fake& fake = The();
  Buffer buffer;
  size_t max_records = 0;
  fake.requested(&buffer.memory, &buffer.bytes, &max_records);
  if (buffer.memory == nullptr) return {};
  fake.handed_out.fetch_add(1);
  const bool zero = std::all_of(buffer.memory, buffer.memory + buffer.bytes,
                                [](uint8_t byte) { return byte == 0; });
  if (!zero) fake.dirty.fetch_add(1);
  return buffer;
}

void CountDrop() {
  The().dropped.fetch_add(1);
  The().dropped_unread.fetch_add(1);
}

// Record sizes by kind, for GetNextRecord; the size is kept in front of each record.
constexpr size_t kPrefix = 8;

}  // namespace

uint64_t Now() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint32_t Version() {
  static const auto version = static_cast<uint32_t>(FromEnvironment("FAKE_CUPTI_VERSION", 130001));
  return version;
}

uint32_t NextCorrelation() { return The().correlation.fetch_add(1) + 1; }

uint32_t ThreadId() {
  thread_local const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  return tid;
}

bool KindEnabled(uint32_t kind) {
  return kind < 64 && (The().kinds.load(std::memory_order_relaxed) >> kind & 1) != 0;
}

bool GraphTraceWasLate() { return The().graph_trace_was_late; }

void SetCapturing(const void* stream) { The().capturing = stream; }
bool IsCapturing() { return The().capturing != nullptr; }
void BreakCapture() {
  if (IsCapturing()) The().capture_broken = true;
}
bool CaptureWasBroken() { return The().capture_broken.exchange(false); }

bool CallEnabled(uint32_t domain, uint32_t cbid) {
  if (KindEnabled(domain == kDriverApi ? kDriver : kRuntime)) return true;
  return cbid < 1024 && The().calls[domain == kDriverApi][cbid].load(std::memory_order_relaxed);
}

static thread_local bool t_is_in_callback = false;

void InvokeCallback(uint32_t domain, uint32_t cbid, const CallbackData& data) {
  Fake& fake = The();
  {
    const std::lock_guard lock(fake.callbacks_mutex);
    if (fake.callbacks.empty() || !fake.callbacks.contains({domain, cbid})) return;
  }
  t_is_in_callback = true;
  fake.callback(fake.user, domain, cbid, &data);
  t_is_in_callback = false;
}

bool IsInCallback() { return t_is_in_callback; }

void InvokeResource(uint32_t cbid, void* descriptor) {
  Fake& fake = The();
  {
    const std::lock_guard lock(fake.callbacks_mutex);
    if (!fake.callbacks.contains({kResource, cbid})) return;
  }
  ResourceData data{};
  data.descriptor = descriptor;
  fake.callback(fake.user, kResource, cbid, &data);
}

void Emit(const void* record, size_t bytes, size_t record_bytes) {
  ThreadBuffer& mine = MyBuffer();
  const std::lock_guard lock(mine.mutex);
  const size_t needed = kPrefix + record_bytes;
  if (mine.buffer.memory != nullptr && mine.buffer.bytes - mine.buffer.used < needed) {
    HandOver(mine.buffer);
    mine.buffer = {};
  }
  if (mine.buffer.memory == nullptr) mine.buffer = Request();
  if (mine.buffer.memory == nullptr) return CountDrop();
  uint8_t* at = mine.buffer.memory + mine.buffer.used;
  std::memcpy(at, &record_bytes, kPrefix);
  std::memcpy(at + kPrefix, record, std::min(bytes, record_bytes));
  mine.buffer.used += needed;
}

void EmitDevice() {
  The().has_context = true;
  if (KindEnabled(kDevice)) {
    DeviceActivity device{};
    device.kind = kDevice;
    device.memory_bandwidth_kb_per_s = 4'800'000'000;
    device.memory_bytes = 150'000'000'000;
    device.l2_bytes = 60u << 20;
    device.warp_threads = 32;
    device.clock_khz = 1'980'000;
    device.sm_count = 132;
    device.max_warps_per_sm = 64;
    device.max_blocks_per_sm = 32;
    device.compute_major = 9;
    for (uint8_t i = 0; i < 16; ++i) device.uuid[i] = i;
    device.name = "Fake H200";
    Emit(&device, sizeof device, Version() >= kVersion12_3 ? 184 : 176);
  }
  if (KindEnabled(kContext)) {
    ContextActivity context{};
    context.kind = kContext;
    context.context = 1;
    context.null_stream = 7;
    Emit(&context, sizeof context, Version() >= 130000 ? 32 : 16);
  }
  if (KindEnabled(kStream)) {
    StreamActivity stream{};
    stream.kind = kStream;
    stream.context = 1;
    stream.stream = 7;
    stream.flag = 3;
    Emit(&stream, sizeof stream, sizeof stream);
  }
}

}  // namespace fake_cupti

using namespace fake_cupti;

extern "C" {

uint64_t fake_cupti_records_dropped() { return The().dropped; }
uint64_t fake_cupti_records_read() { return The().read; }
uint32_t fake_cupti_kind_enabled(uint32_t kind) { return KindEnabled(kind) ? 1 : 0; }
uint32_t fake_cupti_launch_callbacks() {
  const std::lock_guard lock(The().callbacks_mutex);
  uint32_t count = 0;
  for (const uint16_t cbid : batchlight::inject::cupti::kKernelLaunches) {
    count += static_cast<uint32_t>(The().callbacks.count({kDriverApi, cbid}));
  }
  for (const uint16_t cbid : batchlight::inject::cupti::kGraphLaunches) {
    count += static_cast<uint32_t>(The().callbacks.count({kDriverApi, cbid}));
  }
  return count;
}
uint64_t fake_cupti_buffers_handed_out() { return The().handed_out; }
uint64_t fake_cupti_dirty_buffers() { return The().dirty; }

uint32_t cuptiGetVersion(uint32_t* version) {
  *version = Version();
  return kSuccess;
}

uint32_t cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  const long result = FromEnvironment("FAKE_CUPTI_SUBSCRIBE", 0);
  if (result != 0) return static_cast<uint32_t>(result);
  if (The().callback != nullptr) return kErrorMultipleSubscribers;
  The().callback = callback;
  The().user = user;
  *subscriber = &The();
  return kSuccess;
}

uint32_t cuptiUnsubscribe(void*) {
  The().callback = nullptr;
  return kSuccess;
}

uint32_t cuptiEnableCallback(uint32_t enable, void*, uint32_t domain, uint32_t cbid) {
  const std::lock_guard lock(The().callbacks_mutex);
  if (enable != 0) {
    The().callbacks.insert({domain, cbid});
  } else {
    The().callbacks.erase({domain, cbid});
  }
  return kSuccess;
}

uint32_t cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  The().requested = requested;
  The().completed = completed;
  return kSuccess;
}

uint32_t cuptiActivityEnable(uint32_t kind) {
  const long result = FromEnvironment("FAKE_CUPTI_ENABLE", 0);
  if (result != 0) return static_cast<uint32_t>(result);
  if (kind == static_cast<uint32_t>(FromEnvironment("FAKE_CUPTI_REFUSES", 0))) {
    return kErrorNotSupported;
  }
  if (kind == kUnifiedMemoryCounter && !The().page_faults_configured) return kErrorNotSupported;
  if (kind == kGraphTrace && The().has_context) The().graph_trace_was_late = true;
  if (kind < 64) The().kinds.fetch_or(uint64_t{1} << kind);
  return kSuccess;
}

uint32_t cuptiActivityDisable(uint32_t kind) {
  if (kind < 64) The().kinds.fetch_and(~(uint64_t{1} << kind));
  if (kind == kRuntime || kind == kDriver) {
    for (auto& call : The().calls[kind == kDriver]) call.store(0);
  }
  return kSuccess;
}

// As CUPTI 13.0 does it: calls that were not enabled when the first context was made never are.
static uint32_t EnableCall(size_t api, uint32_t cbid, uint8_t enable) {
  if (cbid >= 1024) return kErrorNotSupported;
  if (enable != 0 && !The().has_context) The().hooked[api][cbid].store(1);
  The().calls[api][cbid].store(enable & The().hooked[api][cbid].load());
  return kSuccess;
}
uint32_t cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable) {
  return EnableCall(0, cbid, enable);
}
uint32_t cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable) {
  return EnableCall(1, cbid, enable);
}

uint32_t cuptiActivityFlushAll(uint32_t) {
  if (FromEnvironment("FAKE_CUPTI_FLUSH_HANGS", 0) != 0) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
  Fake& fake = The();
  if (fake.completed == nullptr) return 7;
  std::vector<std::shared_ptr<ThreadBuffer>> threads;
  {
    const std::lock_guard lock(fake.threads_mutex);
    threads = fake.threads;
  }
  for (const auto& thread : threads) {
    Buffer taken;
    {
      const std::lock_guard lock(thread->mutex);
      std::swap(taken, thread->buffer);
    }
    if (taken.memory != nullptr) {
      fake.completed(nullptr, 0, taken.memory, taken.bytes, taken.used);
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(FromEnvironment("FAKE_CUPTI_FLUSH_MS", 0)));
  return kSuccess;
}

uint32_t cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, Activity** record) {
  // *record points behind the prefix of the record before.
  uint8_t* next = buffer;
  if (*record != nullptr) {
    auto* at = reinterpret_cast<uint8_t*>(*record);
    size_t size;
    std::memcpy(&size, at - kPrefix, kPrefix);
    next = at + size;
  }
  constexpr uint32_t kMaxLimitReached = 12;
  if (next + kPrefix >= buffer + valid_bytes) return kMaxLimitReached;
  *record = reinterpret_cast<Activity*>(next + kPrefix);
  The().read.fetch_add(1, std::memory_order_relaxed);
  return kSuccess;
}

uint32_t cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* dropped) {
  *dropped = The().dropped_unread.exchange(0);
  return kSuccess;
}

uint32_t cuptiActivitySetAttribute(uint32_t, size_t*, void*) { return kSuccess; }

uint32_t cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = Now();
  return kSuccess;
}

uint32_t cuptiSetThreadIdType(uint32_t) { return kSuccess; }

// The handles of the fake are its stream ids, moved (fake_cuda.cpp). Of the special handles CUPTI
// documents the null stream alone.
uint32_t cuptiGetStreamIdEx(void*, void* stream, uint8_t per_thread, uint32_t* id) {
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (stream != nullptr && stream == The().capturing) The().capture_broken = true;
  constexpr uint32_t kInvalidStream = 22;
  // CUPTI 13.0.1 on an H200 has no number for the default stream.
  if (handle <= 2 && (handle > 0 || per_thread == 0)) return kInvalidStream;
  *id = handle == 0 ? 8 : static_cast<uint32_t>(handle >> 4);
  return kSuccess;
}

uint32_t cuptiGetGraphNodeId(void* node, uint64_t* id) {
  *id = reinterpret_cast<uint64_t>(node);
  return kSuccess;
}

uint32_t cuptiGetResultString(uint32_t, const char** text) {
  *text = "a fault of the fake";
  return kSuccess;
}

// "The API should be called after CUDA driver initialization."
uint32_t cuptiActivityConfigureUnifiedMemoryCounter(UnifiedMemoryConfig*, uint32_t) {
  constexpr uint32_t kNotInitialized = 15;
  if (!The().has_context) return kNotInitialized;
  const long result = FromEnvironment("FAKE_CUPTI_PAGE_FAULTS", 0);
  The().page_faults_configured = result == 0;
  return static_cast<uint32_t>(result);
}
uint32_t cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return kSuccess; }
uint32_t cuptiActivityEnableAllSyncRecords(uint8_t) { return kSuccess; }

}  // extern "C"
