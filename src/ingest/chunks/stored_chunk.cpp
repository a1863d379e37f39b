#include "ingest/chunks/stored_chunk.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace batchlight {
namespace {

using format::BlockCodec;
using format::ChunkHeader;

// No block is larger than its window needs to be (format::kMaxBlockBytes).
constexpr int kMostWindowLog = std::bit_width(format::kMaxBlockBytes) - 1;

bool IsWhole(const PackedBlock& block) {
  return XXH3_64bits(block.stored.data(), block.stored.size()) == block.header.checksum &&
         (block.header.codec == BlockCodec::kZstd ||
          (block.header.codec == BlockCodec::kRaw &&
           block.stored.size() == block.header.raw_bytes));
}

// The first bytes of what the block unpacks to.
bool UnpackFirst(ZSTD_DCtx* context, const PackedBlock& block, std::span<uint8_t> first) {
  if (block.header.raw_bytes < first.size()) return false;
  if (block.header.codec == BlockCodec::kRaw) {
    std::memcpy(first.data(), block.stored.data(), first.size());
    return true;
  }
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_inBuffer in{block.stored.data(), block.stored.size(), 0};
  ZSTD_outBuffer out{first.data(), first.size(), 0};
  for (size_t left = 1; out.pos < out.size && left != 0;) {
    const size_t read_before = in.pos, written_before = out.pos;
    left = ZSTD_decompressStream(context, &out, &in);
    if (ZSTD_isError(left) != 0) return false;
    if (in.pos == read_before && out.pos == written_before) return false;  // it ends early
  }
  return out.pos == out.size;
}

}  // namespace

void BlockUnpacker::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

BlockUnpacker::BlockUnpacker() : context_(ZSTD_createDCtx()) {
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMostWindowLog);
}

BlockUnpacker::~BlockUnpacker() = default;

std::optional<std::span<const uint8_t>> BlockUnpacker::Unpack(const PackedBlock& block) {
  return IsWhole(block) ? UnpackWhole(block) : std::nullopt;
}

std::optional<std::span<const uint8_t>> BlockUnpacker::UnpackWhole(const PackedBlock& block) {
  const size_t size = block.header.raw_bytes;
  if (size / sizeof(uint64_t) >= capacity_) {
    capacity_ = size / sizeof(uint64_t) + 1;
    words_ = std::make_unique_for_overwrite<uint64_t[]>(capacity_);
  }
  if (block.header.codec == BlockCodec::kRaw) {
    std::memcpy(words_.get(), block.stored.data(), size);
  } else if (ZSTD_decompressDCtx(context_.get(), words_.get(), size, block.stored.data(),
                                 block.stored.size()) != size) {
    return std::nullopt;
  }
  return std::span(reinterpret_cast<const uint8_t*>(words_.get()), size);
}

bool BlockUnpacker::ReadChunk(const PackedBlock& block, StoredChunk* chunk) {
  alignas(uint64_t) uint8_t first[sizeof(ChunkHeader)];
  if (!IsWhole(block) || !UnpackFirst(context_.get(), block, first) ||
      !format::ParseChunk(first, &chunk->view)) {
    return false;
  }
  chunk->view.bytes = {};
  chunk->block = block;
  return true;
}

format::ChunkView BlockUnpacker::Open(const StoredChunk& chunk) {
  if (!chunk.IsPacked()) return chunk.view;
  format::ChunkView view;
  const auto bytes = UnpackWhole(chunk.block);  // the checksum was seen
  if (bytes && format::ParseChunk(*bytes, &view)) return view;
  view = {.header = chunk.view.header, .closed = true, .cut = true};
  return view;
}

}  // namespace batchlight
