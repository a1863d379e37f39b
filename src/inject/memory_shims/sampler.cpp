#include "inject/memory_shims/sampler.h"

#include "inject/memory_shims/exponential.h"
#include "inject/memory_shims/python_allocator.h"
#include "inject/rt/clock.h"

// Of the sanitizers; nullptr without them. And of the other library.
extern "C" {
__attribute__((weak)) void __asan_init();
__attribute__((weak)) void __tsan_init();
__attribute__((weak)) void __msan_init();
__attribute__((weak)) void __hwasan_init();
}
#pragma weak batchlight_memory_api

namespace batchlight::inject::memory {

constinit __thread ThreadSampler t_sampler = {};
constinit Known g_known = {};
constinit bool g_all = false;
constinit bool g_counts_bytes = false;

namespace {

constinit const std::atomic<uint32_t> kOff{0};
constinit const MemoryApi* g_api = nullptr;

int64_t Draw(ThreadSampler& own) {
  return static_cast<int64_t>(Exponential(own.random, static_cast<double>(g_api->interval_bytes)));
}

void BeginThread(ThreadSampler& own) {
  own.random = CounterTicks() * 0x9e3779b97f4a7c15u ^ reinterpret_cast<uintptr_t>(&own);
  if (own.random == 0) own.random = 1;
  for (int i = 0; i < 4; ++i) NextRandom(own.random);
}

bool CountBytes() {
  if (!HasNext() || g_next.usable_size == nullptr) return false;
  g_counts_bytes = true;
  return true;
}

ThreadBytes BytesOfThread() { return t_sampler.bytes; }

constexpr MemoryShims kShims = {WatchPython, CountBytes, BytesOfThread};

bool HasSanitizer() {
  return __asan_init != nullptr || __tsan_init != nullptr || __msan_init != nullptr ||
         __hwasan_init != nullptr;
}

__attribute__((constructor)) void Start() {
  if (!HasNext()) return;
  const MemoryApi* api = batchlight_memory_api != nullptr ? batchlight_memory_api() : nullptr;
  if (api == nullptr) return;
  if (HasSanitizer()) {
    api->reason(
        "the program has a sanitizer, whose allocator it must keep: memory is not recorded");
    return;
  }
  g_api = api;
  g_all = api->interval_bytes == 0;
  if (g_all) g_known.HaveAll();
  g_state = api->state;
  t_sampler.left = 0;  // of the thread that loads the program: there are no others yet
  api->ready(&kShims);
}

}  // namespace

constinit const std::atomic<uint32_t>* g_state = &kOff;

[[gnu::cold, gnu::noinline]] void LookAt(const void* block, size_t bytes, Source source) {
  ThreadSampler& own = t_sampler;
  if (g_api == nullptr) {
    own.left = 1 << 20;  // nothing is recorded, or nothing yet
    return;
  }
  if (g_all) {
    own.left = 0;
  } else if (own.random == 0) {
    BeginThread(own);
    own.left = Draw(own) - static_cast<int64_t>(bytes);
    if (own.left >= 0) return;
    own.left = Draw(own);
  } else {
    own.left = Draw(own);
  }
  if (block == nullptr || !On()) return;
  if (g_all) {
    g_api->allocated(block, bytes, source);
  } else if (!g_known.Add(block)) {
    g_api->lost();
  } else if (!g_api->allocated(block, bytes, source)) {
    g_known.Remove(block);
  }
}

[[gnu::cold, gnu::noinline]] void Forget(const void* block) {
  if (g_all ? On() : g_known.Remove(block)) g_api->freed(block);
}

}  // namespace batchlight::inject::memory
