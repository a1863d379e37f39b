// The buffers that CUPTI fills. A request comes on a thread of the program in the middle of a
// launch: it takes a buffer that is already zeroed and touched. Returned buffers are zeroed by the
// thread that decoded them. No lock anywhere.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject::cupti {

class BufferPool {
 public:
  static constexpr size_t kBufferBytes = 2u << 20;
  static constexpr uint32_t kMaxBuffers = 96;  // 192 MiB, with all that CUPTI holds

  // Maps and touches `count` buffers.
  void Prepare(uint32_t count);
  // A zeroed buffer; maps a new one when none is ready. nullptr without memory, or at the limit
  // unless `beyond_limit` (CUPTI before 12.9 crashes on nullptr: such a buffer is unmapped when it
  // comes back).
  uint8_t* Take(bool beyond_limit);
  // Gives back a buffer whose first `used_bytes` were written.
  void Return(uint8_t* buffer, size_t used_bytes);
  uint32_t mapped() const { return mapped_.load(std::memory_order_relaxed); }
  // In a forked child: forget everything (the parent's CUPTI threads do not exist here).
  void Forget();

 private:
  uint8_t* Map(uint32_t limit);

  // A slot holds a ready buffer or nullptr.
  std::atomic<uint8_t*> ready_[kMaxBuffers] = {};
  std::atomic<uint32_t> mapped_{0};
};

}  // namespace batchlight::inject::cupti
