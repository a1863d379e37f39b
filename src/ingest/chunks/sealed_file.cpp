// A sealed recording: blocks are found by the index, or by walking the file when its end is
// missing. The file is not trusted: no block may count twice, and what it unpacks to is limited.
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "format/partial_block.h"
#include "ingest/chunks/chunk_set.h"
#include "ingest/chunks/partial_block.h"

namespace batchlight {
namespace {

using format::BlockCodec;
using format::BlockHeader;
using format::BlockKind;

constexpr size_t kAlign = 8;
// Recordings shrink to a tenth, at most to a fiftieth; a file of a few KB may claim 64 MB a block.
constexpr uint64_t kMostRawBytes = uint64_t{1} << 30;
constexpr uint64_t kMostRawPerStoredByte = 500;

template <typename T>
bool ReadAt(std::span<const uint8_t> file, uint64_t offset, T* value) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

// A block whose header is plausible and whose bytes lie within the file.
bool FindBlock(std::span<const uint8_t> file, uint64_t offset, BlockHeader* header,
               std::span<const uint8_t>* stored) {
  if (!ReadAt(file, offset, header) || header->magic != format::kBlockMagic ||
      header->raw_bytes > format::kMaxBlockBytes) {
    return false;
  }
  const uint64_t begin = offset + sizeof(BlockHeader);
  if (file.size() - begin < header->stored_bytes) return false;
  *stored = file.subspan(begin, header->stored_bytes);
  return true;
}

// Null if the bytes are damaged. Aligned to 8.
std::unique_ptr<uint64_t[]> Unpack(const BlockHeader& header, std::span<const uint8_t> stored) {
  if (XXH3_64bits(stored.data(), stored.size()) != header.checksum) return nullptr;
  auto raw = std::make_unique_for_overwrite<uint64_t[]>(header.raw_bytes / sizeof(uint64_t) + 1);
  if (header.codec == BlockCodec::kRaw) {
    if (stored.size() != header.raw_bytes) return nullptr;
    std::memcpy(raw.get(), stored.data(), stored.size());
    return raw;
  }
  if (header.codec != BlockCodec::kZstd) return nullptr;
  const size_t size = ZSTD_decompress(raw.get(), header.raw_bytes, stored.data(), stored.size());
  return size == header.raw_bytes ? std::move(raw) : nullptr;
}

// Offsets of the chunk blocks, from the index. False if there is no trustworthy index.
bool OffsetsFromIndex(std::span<const uint8_t> file, std::vector<uint64_t>* offsets,
                      uint64_t* index_offset = nullptr) {
  format::FileTrailer trailer{};
  if (file.size() < sizeof trailer || !ReadAt(file, file.size() - sizeof trailer, &trailer) ||
      std::memcmp(trailer.magic, format::kFileMagic, sizeof trailer.magic) != 0) {
    return false;
  }
  BlockHeader header{};
  std::span<const uint8_t> stored;
  if (!FindBlock(file, trailer.index_offset, &header, &stored) ||
      header.kind != BlockKind::kIndex) {
    return false;
  }
  const auto raw = Unpack(header, stored);
  if (raw == nullptr || header.raw_bytes % sizeof(format::IndexEntry) != 0 ||
      header.raw_bytes / sizeof(format::IndexEntry) != trailer.block_count) {
    return false;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(raw.get());
  for (uint64_t i = 0; i < trailer.block_count; ++i) {
    format::IndexEntry entry{};
    std::memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
    offsets->push_back(entry.offset);
  }
  if (index_offset != nullptr) *index_offset = trailer.index_offset;
  return true;
}

// Walks from the front; after damage, goes on at the next block's magic. Returns the number of
// damaged stretches.
uint64_t OffsetsFromWalk(std::span<const uint8_t> file, std::vector<uint64_t>* offsets) {
  uint64_t damaged = 0;
  bool in_damage = false;
  for (uint64_t offset = sizeof(format::FileHeader); offset < file.size();) {
    BlockHeader header{};
    std::span<const uint8_t> stored;
    const bool found = FindBlock(file, offset, &header, &stored);
    // Nothing follows the index, so losing part of it costs no chunk.
    if (header.magic == format::kBlockMagic && header.kind == BlockKind::kIndex) break;
    if (found) {
      in_damage = false;
      if (header.kind == BlockKind::kChunk) offsets->push_back(offset);
      offset += sizeof header + (stored.size() + kAlign - 1) / kAlign * kAlign;
      continue;
    }
    if (!in_damage) ++damaged;
    in_damage = true;
    offset += kAlign;
  }
  return damaged;
}

bool IsWhole(std::span<const uint8_t> file, uint64_t offset) {
  BlockHeader header{};
  std::span<const uint8_t> stored;
  return FindBlock(file, offset, &header, &stored) && Unpack(header, stored) != nullptr;
}

// Blocks in the order of the file, each once: an index may name one again, or a place inside of
// another. Returns the number of those.
uint64_t DropOverlaps(std::span<const uint8_t> file, std::vector<uint64_t>& offsets) {
  if (!std::is_sorted(offsets.begin(), offsets.end())) std::sort(offsets.begin(), offsets.end());
  uint64_t last = 0;
  uint64_t free_from = sizeof(format::FileHeader);
  return std::erase_if(offsets, [&](uint64_t offset) {
    BlockHeader header{};
    std::span<const uint8_t> stored;
    if (!FindBlock(file, offset, &header, &stored)) return false;  // counted as damaged later
    // A block whose size was damaged reaches into the next one, which is whole.
    if (offset == last || (offset < free_from && IsWhole(file, last))) return true;
    last = offset;
    free_from = offset + sizeof header + stored.size();
    return false;
  });
}

// What the blocks unpack to, by their headers.
uint64_t RawBytes(std::span<const uint8_t> file, const std::vector<uint64_t>& offsets) {
  uint64_t bytes = 0;
  for (const uint64_t offset : offsets) {
    BlockHeader header{};
    std::span<const uint8_t> stored;
    if (FindBlock(file, offset, &header, &stored)) bytes += header.raw_bytes;
  }
  return bytes;
}

// That no file claims more than a recording can, nor more than fits into memory.
Status CheckRawBytes(const std::string& path, std::span<const uint8_t> file,
                     const std::vector<uint64_t>& offsets) {
  const uint64_t raw_bytes = RawBytes(file, offsets);
  if (raw_bytes <= kMostRawBytes + kMostRawPerStoredByte * file.size()) {
    return CheckMemory(path, raw_bytes * kMemoryPerRawByte);
  }
  return InputError("cannot read " + path + ": its " + std::to_string(file.size()) +
                    " bytes claim to unpack to " + std::to_string(raw_bytes >> 30) +
                    " GiB, as no recording does");
}

// "BLIGHT1\n": the digit counts layouts of the file that older readers cannot read. (New records
// do not change it: they are skipped.)
Status CheckFileHeader(const std::string& path, std::span<const uint8_t> file) {
  constexpr size_t kNameBytes = 6;
  format::FileHeader header{};
  if (!ReadAt(file, 0, &header) || std::memcmp(header.magic, format::kFileMagic, kNameBytes) != 0) {
    return InputError("cannot read " + path +
                      ": not a batchlight recording, or cut within its first " +
                      std::to_string(sizeof header) + " bytes");
  }
  if (std::memcmp(header.magic, format::kFileMagic, sizeof header.magic) != 0) {
    return InputError("cannot read " + path +
                      ": made by a newer batchlight with another file layout; update batchlight");
  }
  return {};
}

// Unpacks the blocks in parallel into `set`; what cannot be read is counted.
void UnpackBlocks(std::span<const uint8_t> file, const std::vector<uint64_t>& offsets,
                  ChunkSet& set) {
  std::vector<std::unique_ptr<uint64_t[]>> raw(offsets.size());
  std::vector<format::ChunkView> chunks(offsets.size());
  ParallelFor(offsets.size(), [&](size_t i) {
    BlockHeader header{};
    std::span<const uint8_t> stored;
    if (!FindBlock(file, offsets[i], &header, &stored) || header.kind != BlockKind::kChunk) return;
    raw[i] = Unpack(header, stored);
    if (raw[i] == nullptr) return;
    const std::span bytes(reinterpret_cast<const uint8_t*>(raw[i].get()), header.raw_bytes);
    if (!format::ParseChunk(bytes, &chunks[i])) raw[i].reset();
  });
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (raw[i] == nullptr) {
      ++set.damaged;
      continue;
    }
    set.chunks.push_back(chunks[i]);
    set.buffers.push_back(std::move(raw[i]));
  }
}

}  // namespace

Status LoadSealedFile(const std::string& path, ChunkSet& set) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  RETURN_IF_ERROR(CheckFileHeader(path, file.bytes()));
  std::vector<uint64_t> offsets;
  if (!OffsetsFromIndex(file.bytes(), &offsets)) {
    offsets.clear();
    set.damaged += OffsetsFromWalk(file.bytes(), &offsets);
    set.notices.push_back("the end of the recording is missing or damaged: read without its index");
  }
  set.damaged += DropOverlaps(file.bytes(), offsets);
  RETURN_IF_ERROR(CheckRawBytes(path, file.bytes(), offsets));
  UnpackBlocks(file.bytes(), offsets, set);
  return {};
}

std::optional<std::string> ReadPartialBlock(const std::string& path) {
  const auto mapped = MappedFile::Open(path);
  if (!mapped.ok()) return std::nullopt;
  const std::span<const uint8_t> file = mapped->bytes();
  std::vector<uint64_t> offsets;
  uint64_t index_offset = 0;
  if (!OffsetsFromIndex(file, &offsets, &index_offset)) return std::nullopt;
  uint64_t place = sizeof(format::FileHeader);
  BlockHeader header{};
  std::span<const uint8_t> stored;
  if (!offsets.empty()) {
    const uint64_t last = *std::max_element(offsets.begin(), offsets.end());
    if (!FindBlock(file, last, &header, &stored)) return std::nullopt;
    place = last + sizeof header + format::PaddedBytes(stored.size());
  }
  if (place >= index_offset || !FindBlock(file, place, &header, &stored) ||
      header.kind != format::kPartialBlock) {
    return std::nullopt;
  }
  const auto raw = Unpack(header, stored);
  if (raw == nullptr) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(raw.get()), header.raw_bytes);
}

}  // namespace batchlight
