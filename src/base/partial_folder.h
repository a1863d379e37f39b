// A folder of outputs that is filled beside its place, as FOLDER.partial-<random>. It is locked
// while its process lives, so that one that a killed process left can be told from one that is
// being filled. The destructor removes what has not been renamed.
#pragma once

#include <string>
#include <vector>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight {

class PartialFolder {
 public:
  // Errors (kOutput) name path and reason.
  static Result<PartialFolder> Create(const std::string& folder);
  PartialFolder(PartialFolder&& other) noexcept = default;
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder();

  // Where to write; "" once it has been renamed or removed.
  const std::string& path() const { return path_; }

  // Gives it the name that Create() was told. That must be free, or an empty folder.
  Status Rename();

 private:
  PartialFolder(std::string folder, std::string path, Folder lock)
      : folder_(std::move(folder)), path_(std::move(path)), lock_(std::move(lock)) {}
  std::string folder_;
  std::string path_;
  Folder lock_;
};

// Names of those in `folder` that a killed process of this user left.
std::vector<std::string> LeftPartialFolders(const Folder& folder);

// Removes one with the files in it. False: something is left, errno says why.
bool RemovePartialFolder(const Folder& folder, const std::string& name);

}  // namespace batchlight
