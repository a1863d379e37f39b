// Objects that are found by their name, however many a program registers. Open addressing; the
// table grows by a copy twice as large, within the budget. What it holds lives for ever.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/buffer/chunk_file.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::nvtx {

// T has a `name` with a `hash`. Zeroed memory is an empty table.
template <class T>
class NamedTable {
 public:
  // The object of that hash for which same(object) holds, or nullptr.
  template <class Same>
  T* Find(uint64_t hash, Same same) const {
    if (slots_ == nullptr) return nullptr;
    for (size_t at = hash & slots_->mask;; at = (at + 1) & slots_->mask) {
      T* object = slots_->objects[at];
      if (object == nullptr) return nullptr;
      if (object->name.hash == hash && same(*object)) return object;
    }
  }

  // Before an object is made: false if there is no memory to remember it.
  [[nodiscard]] bool MakeRoom() {
    if (slots_ != nullptr && count_ < (slots_->mask + 1) / 4 * 3) return true;
    const size_t capacity = slots_ == nullptr ? kFirstCapacity : 2 * (slots_->mask + 1);
    Slots* larger = Map(capacity);
    if (larger == nullptr) return false;
    Slots* old = slots_;
    for (size_t at = 0; old != nullptr && at <= old->mask; ++at) {
      if (old->objects[at] != nullptr) Put(*larger, old->objects[at]);
    }
    // A signal handler that jumps away before leaves the old table as it was.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    slots_ = larger;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (old != nullptr) Unmap(old);
    return true;
  }

  // After MakeRoom().
  void Insert(T* object) {
    Put(*slots_, object);
    ++count_;
  }

 private:
  struct Slots {
    size_t mask;
    T* objects[];
  };
  static constexpr size_t kFirstCapacity = 256;

  static size_t Bytes(size_t capacity) { return sizeof(Slots) + capacity * sizeof(T*); }
  static Slots* Map(size_t capacity) {
    if (!TakeBudget(Bytes(capacity))) return nullptr;
    auto* slots = static_cast<Slots*>(sys::MapMemory(Bytes(capacity)));
    if (slots == nullptr) {
      ReturnBudget(Bytes(capacity));
    } else {
      slots->mask = capacity - 1;
    }
    return slots;
  }
  static void Unmap(Slots* slots) {
    const size_t bytes = Bytes(slots->mask + 1);
    sys::Unmap(slots, bytes);
    ReturnBudget(bytes);
  }
  static void Put(Slots& slots, T* object) {
    size_t at = object->name.hash & slots.mask;
    while (slots.objects[at] != nullptr) at = (at + 1) & slots.mask;
    slots.objects[at] = object;
  }

  Slots* slots_;
  size_t count_;
};

}  // namespace batchlight::inject::nvtx
