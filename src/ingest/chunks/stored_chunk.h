// A chunk where it lies: in a mapped process file as it is, in a sealed file packed. It is unpacked
// when it is read, so that a recording takes the memory of a few chunks, however long it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "format/decode.h"
#include "format/layout.h"

struct ZSTD_DCtx_s;

namespace batchlight {

// A block of a sealed file; borrows its bytes.
struct PackedBlock {
  format::BlockHeader header{};
  std::span<const uint8_t> stored;
};

struct StoredChunk {
  format::ChunkView view;  // of a packed chunk its header alone, without bytes
  PackedBlock block;       // of a packed chunk

  bool IsPacked() const { return view.bytes.empty(); }
  // Of header and records, unpacked.
  uint64_t RawBytes() const { return IsPacked() ? block.header.raw_bytes : view.records_end; }
};

// What it gives is aligned to 8 and valid until the next call. Not thread-safe.
class BlockUnpacker {
 public:
  BlockUnpacker();
  ~BlockUnpacker();

  // Nothing: the bytes are damaged.
  std::optional<std::span<const uint8_t>> Unpack(const PackedBlock& block);
  // The header of the chunk in the block, from its first bytes. False: the bytes are damaged or no
  // chunk's. All stored bytes are held against their checksum.
  bool ReadChunk(const PackedBlock& block, StoredChunk* chunk);
  // The chunk with its records. One whose bytes do not unpack has none, and is cut.
  format::ChunkView Open(const StoredChunk& chunk);

 private:
  std::optional<std::span<const uint8_t>> UnpackWhole(const PackedBlock& block);

  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::unique_ptr<uint64_t[]> words_;
  size_t capacity_ = 0;  // words
};

}  // namespace batchlight
