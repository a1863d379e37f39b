// A live folder: process files as the recorded programs write them.
#include <algorithm>
#include <filesystem>

#include "format/chunk_scan.h"
#include "ingest/chunks/chunk_set.h"

namespace batchlight {

Status LoadLiveFolder(const std::string& path, ChunkSet& set) {
  std::error_code error;
  std::vector<std::string> names;
  bool has_control = false;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".blp") names.push_back(it->path().string());
    has_control = has_control || it->path().filename() == "control";
  }
  if (error) return InputError("cannot list " + path + ": " + error.message());
  if (names.empty() && !has_control) {
    return InputError("cannot read " + path + ": the folder holds no recording");
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const Status status = LoadProcessFile(name, set);
    if (status.ok()) continue;
    set.notices.push_back(status.message());
    ++set.damaged;
  }
  return {};
}

Status LoadProcessFile(const std::string& path, ChunkSet& set) {
  ASSIGN_OR_RETURN(MappedFile file, OpenChunks(path, set));
  std::vector<format::ChunkView> chunks;
  set.damaged += format::ScanProcessFile(file.bytes(), chunks);
  for (const format::ChunkView& chunk : chunks) set.chunks.push_back({.view = chunk});
  set.files.push_back(std::move(file));
  return {};
}

}  // namespace batchlight
