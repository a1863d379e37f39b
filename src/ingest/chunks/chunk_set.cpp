#include "ingest/chunks/chunk_set.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace batchlight {
namespace {

using format::ChunkHeader;

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

using ThreadKey = std::tuple<int64_t, uint32_t, uint32_t>;  // attach, pid, thread

ThreadKey KeyOf(const ChunkHeader& header) {
  return {header.attach_ns, header.pid, header.thread_index};
}

}  // namespace

void ChunkSet::Release(size_t chunk) const {
  const StoredChunk& stored = chunks[chunk];
  const std::span bytes = stored.IsPacked() ? stored.block.stored : stored.view.bytes;
  if (!files.empty()) ForgetPages(bytes.data(), bytes.size());
}

// The owner is that of what is open, not of what has the name later.
Result<MappedFile> OpenChunks(const std::string& path, ChunkSet& set) {
  constexpr uint32_t kUnknown = UINT32_MAX;  // who may do what everybody may
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  set.owners.insert(fd >= 0 && fstat(fd, &info) == 0 ? info.st_uid : kUnknown);
  return fd >= 0 ? MappedFile::FromDescriptor(fd, path) : MappedFile::Open(path);
}

// Threads of a process are ordered by when they began, which is not always the order of their
// indexes.
void SortChunks(ChunkSet& set) {
  std::vector<StoredChunk>& chunks = set.chunks;
  std::map<ThreadKey, int64_t> thread_start_ns;
  for (const StoredChunk& chunk : chunks) {
    const int64_t start_ns = chunk.view.header.base_monotonic_ns;
    auto [place, added] = thread_start_ns.try_emplace(KeyOf(chunk.view.header), start_ns);
    if (!added) place->second = std::min(place->second, start_ns);
  }
  const auto order = [&](const ChunkHeader& header) {
    return std::tuple(header.pid != 0, header.attach_ns, header.pid,
                      thread_start_ns.at(KeyOf(header)), header.thread_index, header.chunk_index);
  };
  std::vector<std::pair<decltype(order(ChunkHeader{})), uint32_t>> keys;
  keys.reserve(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    keys.emplace_back(order(chunks[i].view.header), static_cast<uint32_t>(i));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<StoredChunk> sorted;
  sorted.reserve(chunks.size());
  for (const auto& key : keys) sorted.push_back(chunks[key.second]);
  chunks = std::move(sorted);
}

Result<ChunkSet> LoadChunks(const std::string& path) {
  ChunkSet set{.path = path};
  RETURN_IF_ERROR(IsFolder(path) ? LoadLiveFolder(path, set) : LoadSealedFile(path, set));
  SortChunks(set);
  return set;
}

}  // namespace batchlight
