// Reads the records of one chunk in place: bounds-checked, without allocation, safe on any bytes
// and on a chunk that another process is still writing.
//
//   RecordReader reader(chunk);
//   for (RecordView view; reader.Next(view);) {
//     if (view.kind == RecordKind::kRangePush) Use(view.As<RangePushRecord>());
//   }
//   if (reader.damaged()) ...  // the rest of the chunk is lost
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "format/layout.h"
#include "format/records.h"

namespace batchlight::format {

struct RecordView {
  RecordKind kind = RecordKind::kNone;  // may be a number that this build does not know
  uint32_t offset = 0;                  // of the head in the chunk
  uint64_t ticks = 0;                   // since the chunk's base_ticks
  const uint8_t* fields = nullptr;      // first byte after the head (and the long size)
  uint32_t field_bytes = 0;

  // The record's struct; fields that an older writer did not know are 0, and so is `head`.
  template <typename Record>
  Record As() const {
    constexpr size_t kFieldBytes = sizeof(Record) - sizeof(uint64_t);
    Record record{};
    if constexpr (kFieldBytes > 0) {
      auto* to = reinterpret_cast<uint8_t*>(&record) + sizeof(uint64_t);
      std::memcpy(to, fields, std::min<size_t>(kFieldBytes, field_bytes));
    }
    return record;
  }

  // The bytes behind the fields of a "+ bytes" record, at most as many as there are.
  template <typename Record>
  std::string_view BytesAfter(uint32_t byte_count) const {
    constexpr size_t kFieldBytes = sizeof(Record) - sizeof(uint64_t);
    if (field_bytes <= kFieldBytes) return {};
    return {reinterpret_cast<const char*>(fields + kFieldBytes),
            std::min<size_t>(byte_count, field_bytes - kFieldBytes)};
  }
};

// A chunk that passed ParseChunk. `bytes` is borrowed and 8-byte aligned.
struct ChunkView {
  ChunkHeader header{};
  std::span<const uint8_t> bytes;  // header included
  uint32_t records_end = 0;        // offset: no record reaches beyond
  bool closed = false;             // the writer finished it: a zero head is then damage
  bool cut = false;                // bytes that the header promises are missing
};

// True, with *chunk filled, if `bytes` begin with a plausible chunk header. `bytes` may go on
// beyond the chunk, or end before it does.
inline bool ParseChunk(std::span<const uint8_t> bytes, ChunkView* chunk) {
  constexpr uint32_t kMinHeaderBytes = sizeof(ChunkHeader);
  if (bytes.size() < kMinHeaderBytes) return false;
  ChunkHeader& header = chunk->header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kChunkMagic || header.version == 0 || header.header_bytes % 8 != 0 ||
      header.header_bytes < kMinHeaderBytes || header.header_bytes > kPageBytes ||
      header.chunk_bytes < kPageBytes || header.chunk_bytes % kPageBytes != 0 ||
      header.chunk_bytes > kMaxBlockBytes) {
    return false;
  }
  // An impossible used size counts as none: the records tell where they end.
  chunk->closed =
      header.used_bytes >= header.header_bytes && header.used_bytes <= header.chunk_bytes;
  const uint32_t promised = chunk->closed ? header.used_bytes : header.chunk_bytes;
  chunk->records_end = static_cast<uint32_t>(std::min<size_t>(promised, bytes.size()));
  chunk->cut = bytes.size() < promised;
  chunk->bytes = bytes.first(std::min<size_t>(header.chunk_bytes, bytes.size()));
  return true;
}

class RecordReader {
 public:
  explicit RecordReader(const ChunkView& chunk)
      : base_(chunk.bytes.data()),
        position_(std::min<uint32_t>(chunk.header.header_bytes, chunk.records_end)),
        end_(chunk.records_end),
        closed_(chunk.closed),
        damaged_(chunk.cut && chunk.closed) {}

  // False at the end. A record that reaches beyond the chunk ends it and counts as damage.
  bool Next(RecordView& view) {
    if (end_ - position_ < sizeof(uint64_t)) return false;
    const uint8_t* place = base_ + position_;
    // Acquire: the writer stores the head last (release), so what follows is whole.
    const uint64_t head =
        __atomic_load_n(reinterpret_cast<const uint64_t*>(place), __ATOMIC_ACQUIRE);
    uint64_t words = HeadWords(head);
    uint32_t prefix = sizeof(uint64_t);
    if (words == 0) [[unlikely]] {
      if (head == 0) return Stop(closed_);
      prefix = 2 * sizeof(uint64_t);
      if (end_ - position_ < prefix) return Stop(true);
      std::memcpy(&words, place + sizeof(uint64_t), sizeof words);
    }
    const uint64_t left = end_ - position_;
    if (words > left / sizeof(uint64_t) || words * sizeof(uint64_t) < prefix || HeadKind(head) == 0)
        [[unlikely]] {
      return Stop(true);
    }
    const auto bytes = static_cast<uint32_t>(words * sizeof(uint64_t));
    view.kind = static_cast<RecordKind>(HeadKind(head));
    view.offset = position_;
    view.ticks = HeadTicks(head);
    view.fields = place + prefix;
    view.field_bytes = bytes - prefix;
    position_ += bytes;
    return true;
  }

  bool damaged() const { return damaged_; }
  uint32_t position() const { return position_; }

 private:
  bool Stop(bool damaged) {
    damaged_ = damaged_ || damaged;
    end_ = position_;
    return false;
  }

  const uint8_t* base_;
  uint32_t position_;
  uint32_t end_;
  bool closed_;
  bool damaged_;
};

// Bytes of the chunk that hold something, header included: what sealing keeps.
inline uint32_t UsedBytes(const ChunkView& chunk) {
  if (chunk.closed) return chunk.records_end;
  RecordReader reader(chunk);
  for (RecordView view; reader.Next(view);) {
  }
  return reader.position();
}

}  // namespace batchlight::format
