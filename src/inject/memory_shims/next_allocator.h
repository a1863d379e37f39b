// The allocator behind our shims: the C library's, or one that the program preloads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::memory {

struct NextAllocator {
  void* (*malloc)(size_t bytes);
  void* (*calloc)(size_t count, size_t bytes);
  void* (*realloc)(void* block, size_t bytes);
  void (*free)(void* block);
  void* (*memalign)(size_t alignment, size_t bytes);
  void* (*aligned_alloc)(size_t alignment, size_t bytes);
  int (*posix_memalign)(void** block, size_t alignment, size_t bytes);
  void* (*valloc)(size_t bytes);
  void* (*pvalloc)(size_t bytes);
  size_t (*usable_size)(void* block);
};
extern NextAllocator g_next;

// Looks all of them up. False: that is going on, on this thread, and asks for memory itself; it
// gets EarlyBlock().
bool FindNext();
inline bool HasNext() { return __builtin_expect(g_next.malloc != nullptr, 1) || FindNext(); }

// Zeroed memory from a small reserve, which is never given back. nullptr: it is used up.
void* EarlyBlock(size_t bytes, size_t alignment = 16);
extern char g_early[];
inline constexpr size_t kEarlyBytes = 64u << 10;
inline bool IsEarly(const void* block) {
  return static_cast<const char*>(block) - g_early >= 0 &&
         static_cast<const char*>(block) - g_early < static_cast<ptrdiff_t>(kEarlyBytes);
}

}  // namespace batchlight::inject::memory
