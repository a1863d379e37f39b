// What the process does with its open files: names and sums by descriptor. A name is asked of the
// kernel once, at the first call worth it; so descriptors that were inherited, received or made by
// the C library itself have theirs too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/guard.h"

namespace batchlight::inject::osrt {

struct FileName {
  const char* text = nullptr;
  uint32_t bytes = 0;  // 0 = not known
};

enum class IoDirection : uint8_t { kRead, kWrite };

// Once, at attach. Without memory for the table, files stay unnamed.
void PrepareOpenFiles();

// Any thread, at any time; lost beyond the descriptors that the table holds.
void AddIo(int descriptor, IoDirection direction, uint64_t bytes, uint64_t begin, uint64_t ticks);

// Good until the descriptor is closed.
FileName NameOf(const Guard& guard, int descriptor);

// Writes what there is to say of a descriptor and forgets it.
void CloseFile(const Guard& guard, int descriptor);
// The number stands for another file by now: what is known of the earlier one is all there is.
void ReopenFile(const Guard& guard, int descriptor);
void CloseAllFiles(const Guard& guard);

// In a forked child: what its parent did with the files is the parent's.
void ForgetOpenFiles();

}  // namespace batchlight::inject::osrt
