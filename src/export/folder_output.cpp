#include "export/folder_output.h"

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <utility>

namespace batchlight {

namespace fs = std::filesystem;

Result<FolderOutput> FolderOutput::Create(const std::string& folder) {
  std::string final = folder;
  while (final.size() > 1 && final.ends_with('/')) final.pop_back();
  ASSIGN_OR_RETURN(PartialFolder partial, PartialFolder::Create(final));
  return FolderOutput(std::move(final), std::move(partial));
}

std::string FolderOutput::PartialPath(std::string_view name) const {
  return partial_.path() + '/' + std::string(name);
}
std::string FolderOutput::FinalPath(std::string_view name) const {
  return folder_ + '/' + std::string(name);
}

Status FolderOutput::Commit(const std::function<bool(std::string_view name)>& is_stale) {
  struct stat info {};
  return stat(folder_.c_str(), &info) == 0 ? MoveFiles(is_stale) : partial_.Rename();
}

Status FolderOutput::MoveFiles(const std::function<bool(std::string_view name)>& is_stale) {
  std::error_code error;
  std::set<std::string> written;
  for (const fs::directory_entry& entry : fs::directory_iterator(partial_.path(), error)) {
    written.insert(entry.path().filename());
  }
  for (const std::string& name : written) {
    if (error) break;
    fs::rename(PartialPath(name), FinalPath(name), error);
  }
  if (error) return OutputError("cannot write into " + folder_ + ": " + error.message());
  std::set<std::string> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    if (!written.contains(name) && is_stale(name)) stale.insert(name);
  }
  for (const std::string& name : stale) {
    if (!error) fs::remove(FinalPath(name), error);
  }
  if (error) return OutputError("cannot clear " + folder_ + ": " + error.message());
  return {};
}

}  // namespace batchlight
