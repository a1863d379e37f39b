#include "store/string_pool.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace batchlight {
namespace {

constexpr size_t kBlockBytes = 1 << 18;

uint64_t Hash(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace

StringPool::StringPool() : slots_(1024, 0) {}

size_t StringPool::Slot(std::string_view text, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t row = slots_[slot] - 1;
    if (hashes_[row] == hash && views_[row] == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void StringPool::Grow() {
  std::vector<uint32_t> slots(slots_.size() * 2, 0);
  const size_t mask = slots.size() - 1;
  for (size_t row = 0; row < views_.size(); ++row) {
    size_t slot = hashes_[row] & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = static_cast<uint32_t>(row + 1);
  }
  slots_ = std::move(slots);
}

const char* StringPool::Keep(std::string_view text) {
  if (block_used_ + text.size() > block_size_ || blocks_.empty()) {
    block_size_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    block_bytes_ += block_size_;
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return place;
}

StringId StringPool::Intern(std::string_view text) {
  const uint64_t hash = Hash(text);
  size_t slot = Slot(text, hash);
  if (slots_[slot] != 0) return StringId::At(slots_[slot] - 1);
  if ((views_.size() + 1) * 2 > slots_.size()) {
    Grow();
    slot = Slot(text, hash);
  }
  const char* place = text.empty() ? "" : Keep(text);
  views_.emplace_back(place, text.size());
  hashes_.push_back(hash);
  slots_[slot] = static_cast<uint32_t>(views_.size());
  return StringId::At(views_.size() - 1);
}

StringId StringPool::Find(std::string_view text) const {
  const size_t slot = Slot(text, Hash(text));
  return slots_[slot] == 0 ? StringId::None() : StringId::At(slots_[slot] - 1);
}

std::string_view StringPool::Get(StringId id) const {
  return id.IsNone() ? std::string_view() : views_[id.row()];
}

size_t StringPool::resident_bytes() const {
  return block_bytes_ + views_.capacity() * sizeof(std::string_view) +
         hashes_.capacity() * sizeof(hashes_[0]) + slots_.capacity() * sizeof(slots_[0]);
}

}  // namespace batchlight
