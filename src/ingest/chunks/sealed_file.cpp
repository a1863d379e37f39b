// A sealed recording: blocks are found by the index, or by walking the file when its end is
// missing. The file is not trusted: no block may count twice, and what it unpacks to is limited.
#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "format/partial_block.h"
#include "ingest/chunks/chunk_set.h"
#include "ingest/chunks/partial_block.h"

namespace batchlight {
namespace {

using format::BlockHeader;
using format::BlockKind;

constexpr size_t kAlign = 8;  // of blocks
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
bool FindBlock(std::span<const uint8_t> file, uint64_t offset, PackedBlock* block) {
  BlockHeader& header = block->header;
  if (!ReadAt(file, offset, &header) || header.magic != format::kBlockMagic ||
      header.raw_bytes > format::kMaxBlockBytes) {
    return false;
  }
  const uint64_t begin = offset + sizeof header;
  if (file.size() - begin < header.stored_bytes) return false;
  block->stored = file.subspan(begin, header.stored_bytes);
  return true;
}

// Offsets of the chunk blocks, from the index. False if there is no trustworthy index.
bool OffsetsFromIndex(std::span<const uint8_t> file, std::vector<uint64_t>* offsets,
                      uint64_t* index_offset = nullptr) {
  format::FileTrailer trailer{};
  if (file.size() < sizeof trailer || !ReadAt(file, file.size() - sizeof trailer, &trailer) ||
      std::memcmp(trailer.magic, format::kFileMagic, sizeof trailer.magic) != 0) {
    return false;
  }
  PackedBlock block;
  if (!FindBlock(file, trailer.index_offset, &block) || block.header.kind != BlockKind::kIndex ||
      block.header.raw_bytes % sizeof(format::IndexEntry) != 0 ||
      block.header.raw_bytes / sizeof(format::IndexEntry) != trailer.block_count) {
    return false;
  }
  BlockUnpacker unpacker;
  const auto raw = unpacker.Unpack(block);
  if (!raw) return false;
  for (uint64_t i = 0; i < trailer.block_count; ++i) {
    format::IndexEntry entry{};
    std::memcpy(&entry, raw->data() + i * sizeof entry, sizeof entry);
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
    PackedBlock block;
    const bool found = FindBlock(file, offset, &block);
    const BlockHeader& header = block.header;
    // Nothing follows the index, so losing part of it costs no chunk.
    if (header.magic == format::kBlockMagic && header.kind == BlockKind::kIndex) break;
    if (found) {
      in_damage = false;
      if (header.kind == BlockKind::kChunk) offsets->push_back(offset);
      offset += sizeof header + format::PaddedBytes(block.stored.size());
      continue;
    }
    if (!in_damage) ++damaged;
    in_damage = true;
    offset += kAlign;
  }
  return damaged;
}

bool IsWhole(std::span<const uint8_t> file, uint64_t offset) {
  PackedBlock block;
  return FindBlock(file, offset, &block) && BlockUnpacker().Unpack(block).has_value();
}

// Blocks in the order of the file, each once: an index may name one again, or a place inside of
// another. Returns the number of those.
uint64_t DropOverlaps(std::span<const uint8_t> file, std::vector<uint64_t>& offsets) {
  if (!std::is_sorted(offsets.begin(), offsets.end())) std::sort(offsets.begin(), offsets.end());
  uint64_t last = 0;
  uint64_t free_from = sizeof(format::FileHeader);
  return std::erase_if(offsets, [&](uint64_t offset) {
    PackedBlock block;
    if (!FindBlock(file, offset, &block)) return false;  // counted as damaged later
    // A block whose size was damaged reaches into the next one, which is whole.
    if (offset == last || (offset < free_from && IsWhole(file, last))) return true;
    last = offset;
    free_from = offset + sizeof block.header + block.stored.size();
    return false;
  });
}

// What the blocks unpack to, by their headers.
uint64_t RawBytes(std::span<const uint8_t> file, const std::vector<uint64_t>& offsets) {
  uint64_t bytes = 0;
  for (const uint64_t offset : offsets) {
    PackedBlock block;
    if (FindBlock(file, offset, &block)) bytes += block.header.raw_bytes;
  }
  return bytes;
}

// That no file claims more than a recording can.
Status CheckRawBytes(const std::string& path, std::span<const uint8_t> file,
                     const std::vector<uint64_t>& offsets) {
  const uint64_t raw_bytes = RawBytes(file, offsets);
  if (raw_bytes <= kMostRawBytes + kMostRawPerStoredByte * file.size()) return {};
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

// What cannot be read is counted.
void FindChunks(std::span<const uint8_t> file, const std::vector<uint64_t>& offsets,
                ChunkSet& set) {
  std::vector<StoredChunk> chunks(offsets.size());
  std::vector<char> found(offsets.size());
  ParallelFor(offsets.size(), [&](size_t i) {
    thread_local BlockUnpacker unpacker;
    PackedBlock block;
    found[i] = FindBlock(file, offsets[i], &block) && block.header.kind == BlockKind::kChunk &&
               unpacker.ReadChunk(block, &chunks[i]);
  });
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (found[i]) {
      set.chunks.push_back(chunks[i]);
    } else {
      ++set.damaged;
    }
  }
}

}  // namespace

Status LoadSealedFile(const std::string& path, ChunkSet& set) {
  ASSIGN_OR_RETURN(MappedFile file, OpenChunks(path, set));
  return LoadSealedFile(std::move(file), path, set);
}

Status LoadSealedFile(MappedFile file, const std::string& path, ChunkSet& set) {
  RETURN_IF_ERROR(CheckFileHeader(path, file.bytes()));
  std::vector<uint64_t> offsets;
  if (!OffsetsFromIndex(file.bytes(), &offsets)) {
    offsets.clear();
    set.damaged += OffsetsFromWalk(file.bytes(), &offsets);
    set.notices.push_back("the end of the recording is missing or damaged: read without its index");
  }
  set.damaged += DropOverlaps(file.bytes(), offsets);
  RETURN_IF_ERROR(CheckRawBytes(path, file.bytes(), offsets));
  FindChunks(file.bytes(), offsets, set);
  set.files.push_back(std::move(file));
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
  PackedBlock block;
  if (!offsets.empty()) {
    const uint64_t last = *std::max_element(offsets.begin(), offsets.end());
    if (!FindBlock(file, last, &block)) return std::nullopt;
    place = last + sizeof block.header + format::PaddedBytes(block.stored.size());
  }
  if (place >= index_offset || !FindBlock(file, place, &block) ||
      block.header.kind != format::kPartialBlock) {
    return std::nullopt;
  }
  BlockUnpacker unpacker;
  const auto raw = unpacker.Unpack(block);
  if (!raw) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(raw->data()), raw->size());
}

}  // namespace batchlight
