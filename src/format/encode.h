// Writes records into one chunk of memory that the caller owns: the tool's own chunks, and the
// chunks of tests. Allocates nothing and never writes outside the chunk; a record that does not fit
// is refused as a whole. One writer per chunk; a reader may look at the chunk at any moment
// (layout.h: the head of a record is stored last).
#pragma once

#include <atomic>
#include <cstring>
#include <span>
#include <string_view>

#include "format/records.h"

namespace batchlight::format {

constexpr uint64_t PadTo8(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

class ChunkWriter {
 public:
  ChunkWriter() = default;

  // `chunk` is zeroed memory aligned to 8 with room for the header; its size becomes chunk_bytes.
  // Magic, version and sizes of `header` are filled in here.
  ChunkWriter(std::span<uint8_t> chunk, ChunkHeader header) : chunk_(chunk) {
    header.magic = 0;
    header.version = kFormatVersion;
    header.header_bytes = sizeof(ChunkHeader);
    header.chunk_bytes = static_cast<uint32_t>(chunk.size());
    header.used_bytes = 0;
    base_ticks_ = header.base_ticks;
    std::memcpy(chunk.data(), &header, sizeof header);
    used_bytes_ = sizeof header;
    std::atomic_ref<uint32_t>(*At<uint32_t>(0)).store(kChunkMagic, std::memory_order_release);
  }

  // Defines a string and returns its id; 0 = no room (or longer than kMaxStringBytes).
  StringRef AddString(std::string_view text, uint64_t ticks) {
    if (text.size() > kMaxStringBytes) return 0;
    const StringRecord record{.id = next_string_, .byte_count = static_cast<u32>(text.size())};
    return AddWithBytes(record, text, ticks) ? next_string_++ : 0;
  }

  template <typename Record>
  bool Add(const Record& record, uint64_t ticks) {
    return AddWithBytes(record, {}, ticks);
  }

  // The record followed by `bytes`, padded to 8. The caller sets the record's byte_count.
  template <typename Record>
  bool AddWithBytes(const Record& record, std::string_view bytes, uint64_t ticks) {
    constexpr size_t kFieldBytes = sizeof(Record) - sizeof(uint64_t);
    uint64_t words = (sizeof(Record) + PadTo8(bytes.size())) / 8;
    const bool wide = words > 255;
    if (wide) ++words;  // the size moves into a word of its own
    if (words * 8 > Room()) return false;
    const uint64_t since = ticks > base_ticks_ ? ticks - base_ticks_ : 0;
    if (since > kMaxTicksInChunk) return false;
    uint8_t* fields = chunk_.data() + used_bytes_ + (wide ? 16 : 8);
    if (wide) *At<uint64_t>(used_bytes_ + 8) = words;
    std::memcpy(fields, reinterpret_cast<const uint8_t*>(&record) + sizeof(uint64_t), kFieldBytes);
    if (!bytes.empty()) std::memcpy(fields + kFieldBytes, bytes.data(), bytes.size());
    const uint64_t head = MakeHead(static_cast<uint8_t>(Record::kKind), wide ? 0 : words, since);
    std::atomic_ref<uint64_t>(*At<uint64_t>(used_bytes_)).store(head, std::memory_order_release);
    used_bytes_ += static_cast<uint32_t>(words * 8);
    return true;
  }

  // Nothing may be added afterwards.
  void Close(uint64_t end_ticks, int64_t end_monotonic_ns) {
    ChunkHeader* header = At<ChunkHeader>(0);
    header->end_ticks = end_ticks;
    header->end_monotonic_ns = end_monotonic_ns;
    std::atomic_ref<uint32_t>(header->used_bytes).store(used_bytes_, std::memory_order_release);
    chunk_ = {};
  }

  uint64_t Room() const { return chunk_.empty() ? 0 : chunk_.size() - used_bytes_; }
  uint32_t used_bytes() const { return used_bytes_; }

 private:
  template <typename T>
  T* At(uint32_t offset) {
    return reinterpret_cast<T*>(chunk_.data() + offset);
  }

  std::span<uint8_t> chunk_;
  uint64_t base_ticks_ = 0;
  uint32_t used_bytes_ = 0;
  StringRef next_string_ = 1;
};

}  // namespace batchlight::format
