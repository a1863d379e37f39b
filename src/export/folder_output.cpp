#include "export/folder_output.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"

namespace batchlight {

namespace fs = std::filesystem;

Result<FolderOutput> FolderOutput::Create(const std::string& folder) {
  FolderOutput output;
  output.folder_ = folder;
  while (output.folder_.size() > 1 && output.folder_.ends_with('/')) output.folder_.pop_back();
  const std::string partial = output.folder_ + kPartialInfix + RandomLetters();
  if (mkdir(partial.c_str(), 0777) != 0) {
    return OutputError("cannot make folder " + output.folder_ + ": " + std::strerror(errno) +
                       "; choose another place or create the folder around it first");
  }
  output.partial_ = partial;
  return output;
}

FolderOutput::FolderOutput(FolderOutput&& other) noexcept
    : folder_(std::move(other.folder_)), partial_(std::exchange(other.partial_, {})) {}

FolderOutput::~FolderOutput() {
  std::error_code ignored;
  if (!partial_.empty()) fs::remove_all(partial_, ignored);
}

std::string FolderOutput::PartialPath(std::string_view name) const {
  return partial_ + '/' + std::string(name);
}
std::string FolderOutput::FinalPath(std::string_view name) const {
  return folder_ + '/' + std::string(name);
}

Status FolderOutput::Commit(const std::function<bool(std::string_view name)>& is_stale) {
  struct stat info {};
  if (stat(folder_.c_str(), &info) == 0) {
    RETURN_IF_ERROR(MoveFiles(is_stale));
    std::error_code ignored;
    fs::remove_all(std::exchange(partial_, {}), ignored);
    return {};
  }
  if (std::rename(partial_.c_str(), folder_.c_str()) != 0) {
    return OutputError("cannot rename to " + folder_ + ": " + std::strerror(errno));
  }
  partial_.clear();
  return {};
}

Status FolderOutput::MoveFiles(const std::function<bool(std::string_view name)>& is_stale) {
  std::error_code error;
  std::set<std::string> written;
  for (const fs::directory_entry& entry : fs::directory_iterator(partial_, error)) {
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
