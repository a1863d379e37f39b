#include "inject/cupti/buffer_pool.h"

#include <cstring>

#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {

uint8_t* BufferPool::Map(uint32_t limit) {
  uint32_t mapped = mapped_.load(std::memory_order_relaxed);
  do {
    if (mapped >= limit) return nullptr;
  } while (!mapped_.compare_exchange_weak(mapped, mapped + 1, std::memory_order_relaxed));
  auto* buffer = static_cast<uint8_t*>(sys::MapMemory(kBufferBytes));
  if (buffer == nullptr) {
    mapped_.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  sys::Advise(buffer, kBufferBytes, MADV_HUGEPAGE);
  return buffer;
}

void BufferPool::Prepare(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (uint8_t* buffer = Map(kMaxBuffers)) Return(buffer, kBufferBytes);  // zeroing touches it
  }
}

uint8_t* BufferPool::Take(bool beyond_limit) {
  for (auto& slot : ready_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (uint8_t* buffer = slot.exchange(nullptr, std::memory_order_acquire)) return buffer;
  }
  return Map(beyond_limit ? UINT32_MAX : kMaxBuffers);
}

void BufferPool::Return(uint8_t* buffer, size_t used_bytes) {
  if (mapped() <= kMaxBuffers) {
    std::memset(buffer, 0, used_bytes);
    for (auto& slot : ready_) {
      uint8_t* empty = nullptr;
      if (slot.load(std::memory_order_relaxed) == nullptr &&
          slot.compare_exchange_strong(empty, buffer, std::memory_order_release,
                                       std::memory_order_relaxed)) {
        return;
      }
    }
  }
  sys::Unmap(buffer, kBufferBytes);
  mapped_.fetch_sub(1, std::memory_order_relaxed);
}

void BufferPool::Forget() {
  for (auto& slot : ready_) slot.store(nullptr, std::memory_order_relaxed);
  mapped_.store(0, std::memory_order_relaxed);
}

}  // namespace batchlight::inject::cupti
