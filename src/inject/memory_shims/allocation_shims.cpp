// malloc and its kin: what the program asked for, from the next allocator, and then the look at it.
#include <cerrno>

#include "inject/memory_shims/sampler.h"

#define SHIM(R, name, ...)                                                                     \
  extern "C" __attribute__((visibility("default"))) R Shim_##name(__VA_ARGS__) __asm__(#name); \
  R Shim_##name(__VA_ARGS__)

using namespace batchlight::inject::memory;

namespace {

void* Seen(void* block, size_t bytes) {
  CountAllocated(block);
  if (!t_sampler.in_python) Allocated(block, bytes, Source::kNative);
  return block;
}

void Unseen(void* block) {
  if (!t_sampler.in_python) Freeing(block);
  CountFreed(block);
}

void* NoMemory() {
  errno = ENOMEM;
  return nullptr;
}

void* Early(size_t bytes, size_t alignment = 16) {
  void* block = EarlyBlock(bytes, alignment);
  return block != nullptr ? block : NoMemory();
}

// A block of the reserve moves to where it can be given back.
void* GrowEarly(const void* block, size_t bytes) {
  void* larger = HasNext() ? g_next.malloc(bytes) : Early(bytes);
  if (larger == nullptr) return nullptr;
  const auto left = static_cast<size_t>(g_early + kEarlyBytes - static_cast<const char*>(block));
  __builtin_memcpy(larger, block, bytes < left ? bytes : left);
  return larger;
}

void* Reallocated(void* block, size_t bytes) {
  if (block == nullptr) return HasNext() ? Seen(g_next.malloc(bytes), bytes) : Early(bytes);
  if (IsEarly(block)) return GrowEarly(block, bytes);
  if (!HasNext()) return NoMemory();
  Unseen(block);
  void* moved = g_next.realloc(block, bytes);
  if (moved == nullptr && bytes != 0) {  // it stays where it is
    CountAllocated(block);
    return nullptr;
  }
  return Seen(moved, bytes);
}

void* Aligned(void* (*next)(size_t, size_t), size_t alignment, size_t bytes) {
  if (next == nullptr) return NoMemory();
  return Seen(next(alignment, bytes), bytes);
}

}  // namespace

SHIM(void*, malloc, size_t bytes) {
  if (!HasNext()) return Early(bytes);
  void* block = g_next.malloc(bytes);
  t_sampler.last = block;
  return Seen(block, bytes);
}

SHIM(void*, calloc, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) return NoMemory();
  if (!HasNext()) return Early(all);
  return Seen(g_next.calloc(count, bytes), all);
}

SHIM(void*, realloc, void* block, size_t bytes) { return Reallocated(block, bytes); }

SHIM(void*, reallocarray, void* block, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) return NoMemory();
  return Reallocated(block, all);
}

SHIM(void, free, void* block) {
  if (block == nullptr || IsEarly(block) || !HasNext()) return;
  Unseen(block);
  g_next.free(block);
}

SHIM(void*, memalign, size_t alignment, size_t bytes) {
  if (!HasNext()) return Early(bytes, alignment);
  return Aligned(g_next.memalign, alignment, bytes);
}

SHIM(void*, aligned_alloc, size_t alignment, size_t bytes) {
  if (!HasNext()) return Early(bytes, alignment);
  return Aligned(g_next.aligned_alloc, alignment, bytes);
}

SHIM(int, posix_memalign, void** block, size_t alignment, size_t bytes) {
  if (!HasNext()) {
    *block = EarlyBlock(bytes, alignment);
    return *block != nullptr ? 0 : ENOMEM;
  }
  if (g_next.posix_memalign == nullptr) return ENOMEM;
  const int error = g_next.posix_memalign(block, alignment, bytes);
  if (error == 0) Seen(*block, bytes);
  return error;
}

SHIM(void*, valloc, size_t bytes) {
  if (!HasNext() || g_next.valloc == nullptr) return NoMemory();
  return Seen(g_next.valloc(bytes), bytes);
}

SHIM(void*, pvalloc, size_t bytes) {
  if (!HasNext() || g_next.pvalloc == nullptr) return NoMemory();
  return Seen(g_next.pvalloc(bytes), bytes);
}
