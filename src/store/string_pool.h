// Holds every distinct string of a recording once, numbered. Not thread-safe: ingest fills one pool
// per worker and merges them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "store/ids.h"

namespace batchlight {

class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) = default;
  StringPool& operator=(StringPool&&) = default;

  // The id of `text`, which may hold any bytes; adds it when it is new. "" is an ordinary string.
  StringId Intern(std::string_view text);
  // None if the string is not there.
  StringId Find(std::string_view text) const;
  // None gives "". The view stays valid as long as the pool.
  std::string_view Get(StringId id) const;
  size_t size() const { return views_.size(); }
  size_t resident_bytes() const;

 private:
  size_t Slot(std::string_view text, uint64_t hash) const;
  void Grow();
  const char* Keep(std::string_view text);

  std::vector<std::string_view> views_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_;  // open addressing: row + 1, 0 = free; size is a power of two
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_used_ = 0;
  size_t block_size_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace batchlight
