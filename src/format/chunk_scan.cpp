#include "format/chunk_scan.h"

#include <algorithm>
#include <cstring>

namespace batchlight::format {
namespace {

bool IsZero(std::span<const uint8_t> page) {
  return std::all_of(page.begin(), page.end(), [](uint8_t byte) { return byte == 0; });
}

// Offset of the next plausible header of the same process in (begin, end), or `end`.
size_t NextHeader(std::span<const uint8_t> file, size_t begin, size_t end,
                  const ChunkHeader& owner) {
  for (size_t offset = begin; offset < end; offset += kPageBytes) {
    uint32_t magic = 0;
    if (file.size() - offset >= sizeof magic) {
      std::memcpy(&magic, file.data() + offset, sizeof magic);
    }
    ChunkView inner;
    if (magic == kChunkMagic && ParseChunk(file.subspan(offset), &inner) &&
        inner.header.pid == owner.pid && inner.header.attach_ns == owner.attach_ns) {
      return offset;
    }
  }
  return end;
}

}  // namespace

uint64_t ScanProcessFile(std::span<const uint8_t> file, std::vector<ChunkView>& chunks) {
  uint64_t damaged_stretches = 0;
  bool in_damage = false;
  for (size_t offset = 0; offset < file.size();) {
    ChunkView chunk;
    if (!ParseChunk(file.subspan(offset), &chunk)) {
      const size_t page_bytes = std::min<size_t>(kPageBytes, file.size() - offset);
      if (!in_damage && !IsZero(file.subspan(offset, page_bytes))) {
        in_damage = true;
        ++damaged_stretches;
      }
      offset += page_bytes;
      continue;
    }
    in_damage = false;
    const size_t end = std::min<size_t>(offset + chunk.header.chunk_bytes, file.size());
    const size_t next = NextHeader(file, offset + kPageBytes, end, chunk.header);
    if (next < end) ParseChunk(file.subspan(offset, next - offset), &chunk);
    chunks.push_back(chunk);
    offset = next;
  }
  return damaged_stretches;
}

}  // namespace batchlight::format
