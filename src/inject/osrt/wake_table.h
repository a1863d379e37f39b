// Who woke whom: the last thread that released or signalled an object. Small and lossy: an object
// takes the place of another one, and the waiter then learns of nobody.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject::osrt {

class WakeTable {
 public:
  void Wake(const volatile void* object, uint32_t tid, uint64_t ticks) {
    Entry& entry = At(object);
    // In this order a reader that mixes two of them finds no object, or a time before its wait.
    entry.object.store(0, std::memory_order_relaxed);
    entry.tid.store(tid, std::memory_order_relaxed);
    entry.ticks.store(ticks, std::memory_order_relaxed);
    entry.object.store(reinterpret_cast<uintptr_t>(object), std::memory_order_release);
  }
  // The thread that woke the object since `begin`; 0 = not known.
  uint32_t Waker(const volatile void* object, uint64_t begin) const {
    const Entry& entry = const_cast<WakeTable*>(this)->At(object);
    if (entry.object.load(std::memory_order_acquire) != reinterpret_cast<uintptr_t>(object)) {
      return 0;
    }
    const uint32_t tid = entry.tid.load(std::memory_order_relaxed);
    return entry.ticks.load(std::memory_order_relaxed) >= begin ? tid : 0;
  }

 private:
  static constexpr size_t kEntries = 512;
  struct Entry {
    std::atomic<uintptr_t> object;
    std::atomic<uint64_t> ticks;
    std::atomic<uint32_t> tid;
  };

  Entry& At(const volatile void* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    return entries_[(address >> 3) * 0x9e3779b97f4a7c15u >> 55];
  }

  Entry entries_[kEntries];
};

}  // namespace batchlight::inject::osrt
