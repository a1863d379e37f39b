#include "export/folder_output.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace batchlight {

Result<FolderOutput> FolderOutput::Create(const std::string& folder) {
  std::string final = folder;
  while (final.size() > 1 && final.ends_with('/')) final.pop_back();
  ASSIGN_OR_RETURN(PartialFolder partial, PartialFolder::Create(final));
  return FolderOutput(std::move(final), std::move(partial));
}

std::string FolderOutput::FinalPath(std::string_view name) const {
  return folder_ + '/' + std::string(name);
}

Status FolderOutput::Commit(const std::function<bool(std::string_view name)>& is_stale) {
  struct stat info {};
  return stat(folder_.c_str(), &info) == 0 ? MoveFiles(is_stale) : partial_.Rename();
}

Status FolderOutput::MoveFiles(const std::function<bool(std::string_view name)>& is_stale) {
  const auto existing = Folder::OpenForOutput(folder_);
  if (!existing.ok()) return OutputError(existing.status().message());
  const std::vector<std::string> written = partial_.Names();
  for (const std::string& name : written) {
    if (!held().Move(name, existing.value(), name)) {
      return OutputError("cannot write into " + folder_ + ": " + std::strerror(errno));
    }
  }
  for (const std::string& name : existing->Names()) {
    if (std::binary_search(written.begin(), written.end(), name) || !is_stale(name)) continue;
    if (!existing->Remove(name)) {
      return OutputError("cannot clear " + folder_ + ": " + std::strerror(errno));
    }
  }
  return {};
}

}  // namespace batchlight
