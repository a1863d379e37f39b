#include "inject/buffer/string_table.h"

#include <atomic>
#include <cstring>

#include "inject/buffer/chunk_file.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {

void StringTable::Use(void* entries, uint32_t capacity) {
  grown_ = false;  // first: see Grow()
  std::atomic_signal_fence(std::memory_order_seq_cst);
  entries_ = static_cast<Entry*>(entries);
  mask_ = capacity - 1;
  count_ = 0;
}

void StringTable::Place(Entry entry, uint32_t slot) {
  slot &= mask_;
  while (entries_[slot].offset != 0) slot = (slot + 1) & mask_;
  entries_[slot] = entry;
}

void StringTable::Insert(const char* base, uint64_t hash, uint32_t offset) {
  const uint32_t capacity = mask_ + 1;
  if (count_ >= capacity / 4 * 3 && !Grow(base)) return;
  Place({static_cast<uint32_t>(hash >> 32), offset}, static_cast<uint32_t>(hash));
  ++count_;
}

// Entries keep only the upper half of the hash; the lower half comes again from the stored text.
bool StringTable::Grow(const char* base) {
  const uint32_t capacity = mask_ + 1;
  const size_t bytes = size_t{capacity} * 2 * sizeof(Entry);
  if (capacity >= kMaxCapacity || !TakeThreadBudget(bytes)) return false;
  void* larger = sys::MapMemory(bytes);
  if (larger == nullptr) {
    ReturnThreadBudget(bytes);
    return false;
  }
  StringTable old = *this;
  Use(larger, capacity * 2);
  // Last: whenever a signal handler jumps away, what ReleaseGrown() then unmaps is one table.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  grown_ = true;
  for (uint32_t i = 0; i < capacity; ++i) {
    const Entry entry = old.entries_[i];
    if (entry.offset == 0) continue;
    const auto* stored = reinterpret_cast<const StoredString*>(base + entry.offset);
    Place(entry, static_cast<uint32_t>(HashBytes(stored->text, stored->byte_count)));
  }
  count_ = old.count_;
  old.ReleaseGrown();
  return true;
}

void StringTable::Clear() {
  std::memset(entries_, 0, (size_t{mask_} + 1) * sizeof(Entry));
  count_ = 0;
}

void StringTable::ReleaseGrown() {
  if (!grown_) return;
  const size_t bytes = (size_t{mask_} + 1) * sizeof(Entry);
  grown_ = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  sys::Unmap(entries_, bytes);
  ReturnThreadBudget(bytes);
}

}  // namespace batchlight::inject
