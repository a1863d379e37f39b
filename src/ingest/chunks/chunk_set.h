// All chunks of a recording, in the order of the store: the tool's own first, then by process,
// thread and time.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "ingest/chunks/stored_chunk.h"

namespace batchlight {

struct ChunkSet {
  std::string path;                 // of the recording
  std::vector<StoredChunk> chunks;  // borrow from `files`
  std::vector<MappedFile> files;
  std::set<uint32_t> owners;  // users whose files were opened here: they say what names there are
  uint64_t damaged = 0;       // chunks or blocks that could not be read
  std::vector<std::string> notices;  // for people: what is odd about the input

  // Gives back the memory of a chunk that is not read again.
  void Release(size_t chunk) const;
};

// `path`: sealed file or live folder. Errors: kInput.
Result<ChunkSet> LoadChunks(const std::string& path);

// The kinds of source; chunks come in file order.
Status LoadSealedFile(const std::string& path, ChunkSet& set);
Status LoadSealedFile(MappedFile file, const std::string& path, ChunkSet& set);
Status LoadLiveFolder(const std::string& path, ChunkSet& set);
Status LoadProcessFile(const std::string& path, ChunkSet& set);  // one file of a live folder
// A file of a recording; notes its owner.
Result<MappedFile> OpenChunks(const std::string& path, ChunkSet& set);
// Brings the chunks into the order of the store.
void SortChunks(ChunkSet& set);

}  // namespace batchlight
