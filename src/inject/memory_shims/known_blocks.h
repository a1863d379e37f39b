// The blocks that were recorded and are still held, for every free of the program to ask: no lock,
// and no more than one load where there is none of the kind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject::memory {

// Buckets of one cache line, found by a hash of the address; before them a byte for each 1 KiB of
// the address space, kHints of them in turn, which counts the blocks that begin there: what a
// program makes and drops in a loop lies close together, so that few lines of the cache are asked.
// Zeroed memory is an empty set.
template <size_t kBuckets, size_t kHints>
class KnownBlocks {
 public:
  bool MayHave(const void* block) const {
    return hints_[HintOf(block)].load(std::memory_order_relaxed) != 0;
  }

  // From now on every block may be there.
  void HaveAll() {
    for (std::atomic<uint8_t>& hint : hints_) hint.store(kMany, std::memory_order_relaxed);
  }

  // False: its bucket is full.
  bool Add(const void* block) {
    const auto address = reinterpret_cast<uintptr_t>(block);
    for (std::atomic<uintptr_t>& slot : BucketOf(block)) {
      uintptr_t none = 0;
      if (!slot.compare_exchange_strong(none, address, std::memory_order_relaxed)) continue;
      std::atomic<uint8_t>& hint = hints_[HintOf(block)];
      uint8_t count = hint.load(std::memory_order_relaxed);
      while (count != kMany &&
             !hint.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) {
      }
      return true;
    }
    return false;
  }

  // False: it is not there.
  bool Remove(const void* block) {
    const auto address = reinterpret_cast<uintptr_t>(block);
    for (std::atomic<uintptr_t>& slot : BucketOf(block)) {
      uintptr_t found = address;
      if (slot.load(std::memory_order_relaxed) != address ||
          !slot.compare_exchange_strong(found, 0, std::memory_order_relaxed)) {
        continue;
      }
      std::atomic<uint8_t>& hint = hints_[HintOf(block)];
      uint8_t count = hint.load(std::memory_order_relaxed);
      while (count != kMany &&
             !hint.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) {
      }
      return true;
    }
    return false;
  }

 private:
  static_assert((kBuckets & (kBuckets - 1)) == 0 && (kHints & (kHints - 1)) == 0);
  static constexpr uint8_t kMany = 255;  // not counted any more
  struct alignas(64) Bucket {
    std::atomic<uintptr_t> slots[8];
  };

  static uint64_t Hash(const void* block) {
    return (reinterpret_cast<uintptr_t>(block) >> 4) * 0x9e3779b97f4a7c15u;
  }
  static size_t HintOf(const void* block) {
    return reinterpret_cast<uintptr_t>(block) >> 10 & (kHints - 1);
  }
  std::atomic<uintptr_t> (&BucketOf(const void* block))[8] {
    return buckets_[Hash(block) >> 32 & (kBuckets - 1)].slots;
  }

  std::atomic<uint8_t> hints_[kHints];
  Bucket buckets_[kBuckets];
};

}  // namespace batchlight::inject::memory
