// The strings already defined in a thread's open chunk: open addressing over (tag, offset) pairs.
// The text itself is compared in the chunk, so an entry is 8 bytes and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/rt/text.h"

namespace batchlight::inject {

// Fields of a String record as they lie in the chunk.
struct StoredString {
  uint32_t id;
  uint32_t byte_count;
  char text[];
};

class StringTable {
 public:
  // Starts with `capacity` (power of two) entries of zeroed memory that the caller owns.
  void Use(void* entries, uint32_t capacity);

  // The string in the chunk at `base`, or nullptr.
  const StoredString* Find(const char* base, const char* text, size_t bytes, uint64_t hash) const {
    const auto tag = static_cast<uint32_t>(hash >> 32);
    for (auto slot = static_cast<uint32_t>(hash) & mask_;; slot = (slot + 1) & mask_) {
      const Entry entry = entries_[slot];
      if (entry.offset == 0) return nullptr;
      if (entry.tag != tag) continue;
      const auto* stored = reinterpret_cast<const StoredString*>(base + entry.offset);
      if (stored->byte_count == bytes && EqualPadded(stored->text, text, bytes)) return stored;
    }
  }

  // Remembers the string whose StoredString lies at `offset` of the chunk at `base`. Grows within
  // the budget; a string for which there is no place is simply defined again next time.
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

// Programs pass the same few pointers again and again: where the text at a pointer was found last.
// The text is still compared, since the program may have changed it, but neither measured nor
// hashed.
class RecentStrings {
 public:
  const StoredString* Find(const char* base, const char* text, size_t bytes) const {
    const Entry& entry = At(text);
    if (entry.text != text) return nullptr;
    const auto* stored = reinterpret_cast<const StoredString*>(base + entry.offset);
    const bool same = stored->byte_count == bytes && EqualPadded(stored->text, text, bytes);
    return same ? stored : nullptr;
  }

  // The same for a text of unknown length. It may be shorter than what it is compared with, so
  // whole words are read only where they cannot reach the next page.
  __attribute__((no_sanitize("address", "thread"))) const StoredString* FindTerminated(
      const char* base, const char* text) const {
    const Entry& entry = At(text);
    if (entry.text != text) return nullptr;
    const auto* stored = reinterpret_cast<const StoredString*>(base + entry.offset);
    const size_t bytes = stored->byte_count;
    if ((reinterpret_cast<uintptr_t>(text) & 4095) + bytes + 8 > 4096) return nullptr;
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t unused = i + 8 <= bytes ? 0 : 8 * (i + 8 - bytes);  // bits beyond the text
      if ((*reinterpret_cast<const UnalignedWord*>(text + i) << unused) !=
          (*reinterpret_cast<const UnalignedWord*>(stored->text + i) << unused)) {
        return nullptr;
      }
    }
    return text[bytes] == 0 ? stored : nullptr;
  }

  void Remember(const char* base, const char* text, const StoredString* stored) {
    At(text) = {text, static_cast<uint32_t>(reinterpret_cast<const char*>(stored) - base)};
  }
  void Clear() { std::memset(entries_, 0, sizeof entries_); }

 private:
  using UnalignedWord [[gnu::aligned(1), gnu::may_alias]] = uint64_t;
  struct Entry {
    const char* text;
    uint32_t offset;
  };
  static constexpr size_t kEntries = 64;

  static size_t Slot(const char* text) {
    const auto address = reinterpret_cast<uintptr_t>(text);
    return (address ^ address >> 6) % kEntries;
  }
  const Entry& At(const char* text) const { return entries_[Slot(text)]; }
  Entry& At(const char* text) { return entries_[Slot(text)]; }

  Entry entries_[kEntries];
};

}  // namespace batchlight::inject
