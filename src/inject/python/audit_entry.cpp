#include "inject/python/audit_entry.h"

#include <dlfcn.h>

#include <cstddef>

#include "inject/memory/memory_api.h"

namespace batchlight::inject {
namespace {

using Allocator = memory::PythonAllocator;
constexpr int kRawDomain = 0;

void (*g_get)(int domain, Allocator*);
void (*g_set)(int domain, Allocator*);
Allocator g_first;        // in place when the hook was added
Allocator g_last;         // in place when the hooks are freed
void* g_entry = nullptr;  // the hook's block

void* NotingMalloc(void* context, size_t bytes) {
  g_entry = g_first.malloc(context, bytes);
  return g_entry;
}

void* NotingCalloc(void* context, size_t count, size_t bytes) {
  g_entry = g_first.calloc(context, count, bytes);
  return g_entry;
}

void* LastMalloc(void*, size_t bytes) { return g_last.malloc(g_last.context, bytes); }
void* LastCalloc(void*, size_t count, size_t bytes) {
  return g_last.calloc(g_last.context, count, bytes);
}
void* LastRealloc(void*, void* block, size_t bytes) {
  return g_last.realloc(g_last.context, block, bytes);
}
void LastFree(void*, void* block) {
  if (block != g_entry) return g_last.free(g_last.context, block);
  g_first.free(g_first.context, block);
  g_entry = nullptr;
  g_set(kRawDomain, &g_last);
}

}  // namespace

int AddAuditHook(int (*add)(AuditHook, void*), AuditHook hook) {
  g_get = reinterpret_cast<decltype(g_get)>(dlsym(RTLD_DEFAULT, "PyMem_GetAllocator"));
  g_set = reinterpret_cast<decltype(g_set)>(dlsym(RTLD_DEFAULT, "PyMem_SetAllocator"));
  if (g_get == nullptr || g_set == nullptr) return add(hook, nullptr);
  g_get(kRawDomain, &g_first);
  Allocator noting = g_first;
  noting.malloc = NotingMalloc;
  noting.calloc = NotingCalloc;
  g_set(kRawDomain, &noting);
  const int refused = add(hook, nullptr);
  g_set(kRawDomain, &g_first);
  return refused;
}

void BeforeAuditHooksAreFreed() {
  if (g_entry == nullptr) return;
  g_get(kRawDomain, &g_last);
  if (g_last.free == g_first.free && g_last.context == g_first.context) return;
  Allocator parting = {nullptr, LastMalloc, LastCalloc, LastRealloc, LastFree};
  g_set(kRawDomain, &parting);
}

}  // namespace batchlight::inject
