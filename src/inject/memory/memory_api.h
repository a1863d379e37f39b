// Between the library of shims (inject/memory_shims), which --python-memory preloads besides this
// one, and the recorder of what they see. Both are of one build.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace batchlight::inject::memory {

// Whose allocator gave a block: MemoryAllocated::source.
enum class Source : uint32_t { kNative = 0, kPython = 1 };

// As CPython declares it since 3.5 (PyMemAllocatorEx).
struct PythonAllocator {
  void* context;
  void* (*malloc)(void* context, size_t bytes);
  void* (*calloc)(void* context, size_t count, size_t bytes);
  void* (*realloc)(void* context, void* block, size_t bytes);
  void (*free)(void* context, void* block);
};
using GetPythonAllocator = void(int domain, PythonAllocator*);
using SetPythonAllocator = void(int domain, PythonAllocator*);

// What the calling thread has allocated and freed so far, small Python objects left out unless
// malloc gives them.
struct ThreadBytes {
  uint64_t allocated;
  uint64_t freed;
};

// What the shims do when they are asked to.
struct MemoryShims {
  // From here on what Python's objects ask for is told apart. With the GIL held, once.
  void (*watch_python)(GetPythonAllocator* get, SetPythonAllocator* set);
  // From here on ThreadBytes are counted. False: this C library does not tell how large a block is.
  bool (*count_bytes)();
  ThreadBytes (*thread_bytes)();
};

struct MemoryApi {
  // ControlPage::state. Nothing is told while it says that nothing is collected, but for frees.
  const std::atomic<uint32_t>* state;
  // Bytes between two that are looked at, in the mean; the blocks in which they lie are told of.
  // 0 = all blocks are.
  uint64_t interval_bytes;
  void (*ready)(const MemoryShims* shims);
  // False: it is not recorded, and its free is not to be told.
  bool (*allocated)(const void* block, size_t bytes, Source source);
  // Such a block is about to be freed.
  void (*freed)(const void* block);
  // A block could not be remembered.
  void (*lost)();
  // Why shims are off in this process.
  void (*reason)(const char* text);
};

}  // namespace batchlight::inject::memory

// Attaches if that is still to be done. nullptr: --python-memory was not asked for, or this process
// is not recorded.
extern "C" const batchlight::inject::memory::MemoryApi* batchlight_memory_api();
