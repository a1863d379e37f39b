// What a thread's open chunk has defined already: functions, frames below their callers, and whole
// stacks, so that a stack seen before is one look-up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::stacks {

// Open addressing over 64-bit hashes. A table that is full starts over: what is forgotten is simply
// defined again, under another id. Zeroed memory is an empty table.
template <size_t kCapacity>
class HashTable {
 public:
  uint32_t Find(uint64_t hash) const {
    for (size_t slot = hash % kCapacity;; slot = (slot + 1) % kCapacity) {
      const Entry& entry = entries_[slot];
      if (entry.age != age_ || entry.id == 0) return 0;
      if (entry.hash == hash) return entry.id;
    }
  }
  void Insert(uint64_t hash, uint32_t id) {
    if (count_ >= kCapacity / 4 * 3) Clear();
    size_t slot = hash % kCapacity;
    while (entries_[slot].age == age_ && entries_[slot].id != 0) slot = (slot + 1) % kCapacity;
    entries_[slot] = {hash, id, age_};
    ++count_;
  }
  void Clear() {
    ++age_;
    count_ = 0;
  }

 private:
  static_assert((kCapacity & (kCapacity - 1)) == 0);
  struct Entry {
    uint64_t hash;
    uint32_t id;
    uint32_t age;  // of the table when it was filled: others are free
  };

  Entry entries_[kCapacity];
  uint32_t age_;
  size_t count_;
};

}  // namespace batchlight::inject::stacks
