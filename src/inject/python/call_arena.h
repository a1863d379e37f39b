// Memory of one thread's call table: handed out in pieces that never move, given back at once. In a
// forked child it is a copy like the rest of the program's memory.
#pragma once

#include <cstddef>

#include "inject/rt/sys.h"

namespace batchlight::inject {

class CallArena {
 public:
  // Zeroed; nullptr if there is no memory, or more was taken than any program should need.
  void* Take(size_t bytes) {
    bytes = (bytes + 63) & ~size_t{63};
    if (static_cast<size_t>(end_ - next_) < bytes && !Grow(bytes)) return nullptr;
    void* piece = next_;
    next_ += bytes;
    return piece;
  }
  template <class T>
  T* Take(size_t count = 1) {
    return static_cast<T*>(Take(count * sizeof(T)));
  }

  void Release() {
    while (blocks_ != nullptr) {
      Block* block = blocks_;
      blocks_ = block->before;
      sys::Unmap(block, block->bytes);
    }
    next_ = end_ = nullptr;
    total_ = 0;
  }

 private:
  struct alignas(64) Block {
    Block* before;
    size_t bytes;
  };
  static constexpr size_t kBlockBytes = 256u << 10;
  static constexpr size_t kMostBytes = 256u << 20;

  bool Grow(size_t bytes) {
    size_t size = sizeof(Block) + bytes;
    size = size < kBlockBytes ? kBlockBytes : (size + 4095) & ~size_t{4095};
    if (total_ + size > kMostBytes) return false;
    auto* block = static_cast<Block*>(sys::MapMemory(size));
    if (block == nullptr) return false;
    block->before = blocks_;
    block->bytes = size;
    blocks_ = block;
    total_ += size;
    next_ = reinterpret_cast<char*>(block + 1);
    end_ = reinterpret_cast<char*>(block) + size;
    return true;
  }

  Block* blocks_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
  size_t total_ = 0;
};

}  // namespace batchlight::inject
