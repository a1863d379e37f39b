// Which blocks are told of. A thread counts the bytes that it is given down; where the count ends
// is drawn anew each time (exponentially distributed), so that each byte has the same chance to be
// looked at and programs that allocate in rhythm are seen as they are. It goes on between windows,
// where what it finds is not told: so most blocks need not ask whether they lie in one. No lock,
// and nothing shared is written but when a block is told of.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/memory/memory_api.h"
#include "inject/memory_shims/known_blocks.h"
#include "inject/memory_shims/next_allocator.h"

namespace batchlight::inject::memory {

// Zeroed: a thread that has allocated nothing yet.
struct ThreadSampler {
  int64_t left;     // bytes until one is looked at
  uint64_t random;  // 0: the thread begins
  ThreadBytes bytes;
  const void* last;  // that malloc gave
  bool in_python;    // in Python's allocator, which is told apart from those below it
};
extern __thread ThreadSampler t_sampler;

// 8 MB of them, held at 128 KB each, are 16 GB.
using Known = KnownBlocks<32768, 32768>;
extern Known g_known;
extern const std::atomic<uint32_t>* g_state;  // ControlPage::state; never nullptr
extern bool g_all;                            // all blocks are told of
extern bool g_counts_bytes;

inline bool On() { return (g_state->load(std::memory_order_relaxed) & 1) != 0; }

// Tells of the block, whose last byte is beyond the count, if it is one to be told of.
void LookAt(const void* block, size_t bytes, Source source);
void Forget(const void* block);

inline void Allocated(void* block, size_t bytes, Source source) {
  if ((t_sampler.left -= static_cast<int64_t>(bytes)) >= 0) return;
  LookAt(block, bytes, source);
}

// The same before the block is there. False: nothing was counted, it is to be told of once it is.
inline bool Passes(size_t bytes) {
  const int64_t left = t_sampler.left - static_cast<int64_t>(bytes);
  if (left < 0) return false;
  t_sampler.left = left;
  return true;
}

// The block is about to be freed: afterwards another thread may have it.
inline bool MayBeTold(const void* block) { return g_known.MayHave(block); }
inline void Freeing(const void* block) {
  if (__builtin_expect(MayBeTold(block), 0)) Forget(block);
}

inline void CountAllocated(void* block) {
  if (g_counts_bytes && block != nullptr) t_sampler.bytes.allocated += g_next.usable_size(block);
}
inline void CountFreed(void* block) {
  if (g_counts_bytes) t_sampler.bytes.freed += g_next.usable_size(block);
}

}  // namespace batchlight::inject::memory
