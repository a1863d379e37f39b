// A map from 64-bit keys to 32-bit values in two flat arrays, for joins and groupings over millions
// of rows without an allocation per key. Keys are never removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace batchlight {

class FlatMap {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;  // no value may be this

  void Reserve(size_t count) {
    size_t slots = 64;
    while (slots < count * 2) slots *= 2;
    if (slots > keys_.size()) Grow(slots);
  }
  uint32_t Find(uint64_t key) const {
    if (keys_.empty()) return kAbsent;
    return values_[SlotOf(key)];
  }
  // The value of `key`; a new key gets `value`.
  uint32_t FindOrAdd(uint64_t key, uint32_t value) {
    if ((size_ + 1) * 2 > keys_.size()) Grow(keys_.empty() ? 64 : keys_.size() * 2);
    const size_t slot = SlotOf(key);
    if (values_[slot] == kAbsent) {
      keys_[slot] = key;
      values_[slot] = value;
      ++size_;
    }
    return values_[slot];
  }
  size_t size() const { return size_; }

 private:
  size_t SlotOf(uint64_t key) const {
    const size_t mask = keys_.size() - 1;
    // Keys often differ in their high half alone.
    size_t slot = ((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 20) & mask;
    while (values_[slot] != kAbsent && keys_[slot] != key) slot = (slot + 1) & mask;
    return slot;
  }
  void Grow(size_t slots) {
    const std::vector<uint64_t> keys = std::exchange(keys_, {});
    const std::vector<uint32_t> values = std::exchange(values_, {});
    keys_.assign(slots, 0);
    values_.assign(slots, kAbsent);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (values[i] == kAbsent) continue;
      const size_t slot = SlotOf(keys[i]);
      keys_[slot] = keys[i];
      values_[slot] = values[i];
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<uint32_t> values_;
  size_t size_ = 0;
};

}  // namespace batchlight
