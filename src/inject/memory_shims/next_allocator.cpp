#include "inject/memory_shims/next_allocator.h"

#include <dlfcn.h>

#include <atomic>

#include "inject/rt/glibc.h"  // dlsym as every glibc has it

namespace batchlight::inject::memory {

constinit NextAllocator g_next = {};
alignas(64) constinit char g_early[kEarlyBytes] = {};

namespace {

constinit std::atomic<size_t> g_early_used{0};
constinit __thread bool t_finding = false;

template <class Function>
void Find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Threads that do it at the same time find the same. `malloc` last: it says that all are there.
bool FindNext() {
  if (t_finding || dlsym == nullptr) return false;
  t_finding = true;
  NextAllocator found = {};
  Find(found.calloc, "calloc");
  Find(found.realloc, "realloc");
  Find(found.free, "free");
  Find(found.memalign, "memalign");
  Find(found.aligned_alloc, "aligned_alloc");
  Find(found.posix_memalign, "posix_memalign");
  Find(found.valloc, "valloc");
  Find(found.pvalloc, "pvalloc");
  Find(found.usable_size, "malloc_usable_size");
  Find(found.malloc, "malloc");
  t_finding = false;
  if (found.malloc == nullptr || found.free == nullptr || found.calloc == nullptr ||
      found.realloc == nullptr) {
    return false;
  }
  void* (*const malloc_function)(size_t) = found.malloc;
  found.malloc = nullptr;
  g_next = found;
  std::atomic_ref(g_next.malloc).store(malloc_function, std::memory_order_release);
  return true;
}

void* EarlyBlock(size_t bytes, size_t alignment) {
  if (bytes > kEarlyBytes || alignment > kEarlyBytes) return nullptr;
  size_t used = g_early_used.load(std::memory_order_relaxed), from;
  do {
    from = (used + alignment - 1) & ~(alignment - 1);
    if (from + bytes > kEarlyBytes) return nullptr;
  } while (!g_early_used.compare_exchange_weak(used, from + bytes, std::memory_order_relaxed));
  return g_early + from;
}

}  // namespace batchlight::inject::memory
