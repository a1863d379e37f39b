// The strings already defined in a thread's open chunk: open addressing over (tag, offset) pairs.
// The text itself is compared in the chunk, so an entry is 8 bytes and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/rt/text.h"

namespace batchlight::inject {

class StringTable {
 public:
  // Fields of a String record as they lie in the chunk.
  struct Stored {
    uint32_t id;
    uint32_t byte_count;
    char text[];
  };

  // Starts with `capacity` (power of two) entries of zeroed memory that the caller owns.
  void Use(void* entries, uint32_t capacity);

  // The id field of the string in the chunk at `base`, or nullptr.
  const uint32_t* Find(const char* base, const char* text, size_t bytes, uint64_t hash) const {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (auto slot = static_cast<uint32_t>(hash) & mask_;; slot = (slot + 1) & mask_) {
      const Entry entry = entries_[slot];
      if (entry.offset == 0) return nullptr;
      if (entry.tag != tag) continue;
      const auto* stored = reinterpret_cast<const Stored*>(base + entry.offset);
      if (stored->byte_count == bytes && EqualPadded(stored->text, text, bytes)) return &stored->id;
    }
  }

  // Remembers the string whose Stored lies at `offset` of the chunk at `base`. Grows within the
  // budget; a string for which there is no place is simply defined again next time.
  void Insert(const char* base, uint64_t hash, uint32_t offset);

  void Clear();         // a new chunk has no strings
  void ReleaseGrown();  // gives back what Insert() mapped; the table is unusable until Use()

 private:
  struct Entry {
    uint32_t tag;
    uint32_t offset;  // 0 = free
  };
  static constexpr uint32_t kMaxCapacity = 1u << 16;

  void Place(Entry entry, uint32_t slot);
  bool Grow(const char* base);

  Entry* entries_;
  uint32_t mask_;
  uint32_t count_;
  bool grown_;
};

}  // namespace batchlight::inject
