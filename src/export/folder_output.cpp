#include "export/folder_output.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

bool IsThere(const std::string& folder) {
  struct stat info {};
  return stat(folder.c_str(), &info) == 0;
}

Result<Folder> OpenExisting(const std::string& folder) {
  auto existing = Folder::OpenForOutput(folder);
  if (!existing.ok()) return OutputError(existing.status().message());
  return existing;
}

}  // namespace

Result<FolderOutput> FolderOutput::Create(const std::string& folder, const Folder* into) {
  std::string final = folder;
  while (final.size() > 1 && final.ends_with('/')) final.pop_back();
  ASSIGN_OR_RETURN(PartialFolder partial, PartialFolder::Create(final, 0777, into));
  std::string place = into == nullptr ? final : into->DescriptorPath() + "/" + LastPartOf(final);
  std::optional<Folder> existing;
  if (IsThere(place)) {
    ASSIGN_OR_RETURN(existing, OpenExisting(place));
  }
  return FolderOutput(std::move(final), std::move(place), std::move(partial), std::move(existing));
}

std::string FolderOutput::FinalPath(std::string_view name) const {
  return folder_ + '/' + std::string(name);
}

Status FolderOutput::Commit(const std::function<bool(std::string_view name)>& is_stale) {
  if (!existing_ && IsThere(place_)) {
    ASSIGN_OR_RETURN(existing_, OpenExisting(place_));
  }
  return existing_ ? MoveFiles(is_stale) : partial_.Rename();
}

Status FolderOutput::MoveFiles(const std::function<bool(std::string_view name)>& is_stale) {
  const std::vector<std::string> written = partial_.Names();
  for (const std::string& name : written) {
    if (!held().Move(name, *existing_, name)) {
      return OutputError("cannot write into " + folder_ + ": " + std::strerror(errno));
    }
  }
  for (const std::string& name : existing_->Names()) {
    if (std::binary_search(written.begin(), written.end(), name) || !is_stale(name)) continue;
    if (!existing_->Remove(name)) {
      return OutputError("cannot clear " + folder_ + ": " + std::strerror(errno));
    }
  }
  return {};
}

}  // namespace batchlight
