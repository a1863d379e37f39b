// All chunks of a recording in memory, in the order of the store: the tool's own first, then by
// process, thread and time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "format/decode.h"

namespace batchlight {

struct ChunkSet {
  std::vector<format::ChunkView> chunks;  // borrow from `files` or `buffers`
  std::vector<MappedFile> files;
  std::vector<std::unique_ptr<uint64_t[]>> buffers;  // decompressed blocks
  uint64_t damaged = 0;                              // chunks or blocks that could not be read
  std::vector<std::string> notices;                  // for people: what is odd about the input

  // Gives back the memory of a chunk that is not read again, where the set owns it.
  void Release(size_t chunk) const;
};

// `path`: sealed file or live folder. Errors: kInput.
Result<ChunkSet> LoadChunks(const std::string& path);

// Memory that reading takes at its peak for each byte of the chunks: they, their decoded pieces and
// the tables. Measured on 3 million ranges: 4.2 with `stats`.
inline constexpr uint64_t kMemoryPerRawByte = 4;

// The kinds of source; chunks come in file order.
Status LoadSealedFile(const std::string& path, ChunkSet& set);
Status LoadLiveFolder(const std::string& path, ChunkSet& set);
Status LoadProcessFile(const std::string& path, ChunkSet& set);  // one file of a live folder
// Brings the chunks into the order of the store.
void SortChunks(ChunkSet& set);

}  // namespace batchlight
