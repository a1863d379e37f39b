// A sealed recording in memory, for tests of reading: what capture/recording/seal.cpp writes to
// disk, without files in between.
#pragma once

#include <xxhash.h>
#include <zstd.h>

#include <map>
#include <string>
#include <vector>

#include "format/chunk_scan.h"

namespace batchlight::testing_support {

inline void AppendBlock(format::BlockKind kind, bool compress, std::string_view raw,
                        std::string& file) {
  std::string stored(raw);
  if (compress) {
    stored.resize(ZSTD_compressBound(raw.size()));
    stored.resize(ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), 1));
  }
  const format::BlockHeader header{
      .magic = format::kBlockMagic,
      .kind = kind,
      .codec = compress ? format::BlockCodec::kZstd : format::BlockCodec::kRaw,
      .stored_bytes = static_cast<uint32_t>(stored.size()),
      .raw_bytes = static_cast<uint32_t>(raw.size()),
      .checksum = XXH3_64bits(stored.data(), stored.size())};
  file.append(reinterpret_cast<const char*>(&header), sizeof header);
  file += stored;
  file.resize((file.size() + 7) / 8 * 8);
}

// `files`: process files of a live folder, by name.
inline std::string SealedBytes(const std::map<std::string, std::string>& files, bool compress) {
  format::FileHeader file_header{};
  std::memcpy(file_header.magic, format::kFileMagic, sizeof file_header.magic);
  file_header.version = format::kFormatVersion;
  file_header.header_bytes = sizeof file_header;
  std::string file(reinterpret_cast<const char*>(&file_header), sizeof file_header);
  std::string index;
  for (const auto& [name, text] : files) {
    std::vector<uint64_t> aligned((text.size() + 7) / 8);
    std::memcpy(aligned.data(), text.data(), text.size());
    std::vector<format::ChunkView> chunks;
    format::ScanProcessFile({reinterpret_cast<const uint8_t*>(aligned.data()), text.size()},
                            chunks);
    for (const format::ChunkView& chunk : chunks) {
      std::string raw(reinterpret_cast<const char*>(chunk.bytes.data()), format::UsedBytes(chunk));
      const auto used_bytes = static_cast<uint32_t>(raw.size());
      std::memcpy(raw.data() + offsetof(format::ChunkHeader, used_bytes), &used_bytes,
                  sizeof used_bytes);
      const format::IndexEntry entry{file.size(), chunk.header.pid, chunk.header.thread_index};
      index.append(reinterpret_cast<const char*>(&entry), sizeof entry);
      AppendBlock(format::BlockKind::kChunk, compress, raw, file);
    }
  }
  format::FileTrailer trailer{.index_offset = file.size(),
                              .block_count = index.size() / sizeof(format::IndexEntry)};
  std::memcpy(trailer.magic, format::kFileMagic, sizeof trailer.magic);
  AppendBlock(format::BlockKind::kIndex, false, index, file);
  return file.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
}

}  // namespace batchlight::testing_support
