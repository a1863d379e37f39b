// A folder of outputs that is filled beside its place, as FOLDER.partial-<random>. It is locked
// while its process lives, so that one that a killed process left can be told from one that is
// being filled. It is written through its descriptor, since whoever may write the folder around it
// can put a link in its place. The destructor removes what has not been renamed.
#pragma once

#include <string>
#include <vector>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight {

class PartialFolder {
 public:
  // In the end with `mode`, less the umask; nobody else may enter it before. `into`: the folder
  // that takes it, under the last part of its name. Errors (kOutput) name path and reason.
  static Result<PartialFolder> Create(const std::string& folder, mode_t mode = 0777,
                                      const Folder* into = nullptr);
  PartialFolder(PartialFolder&& other) noexcept = default;
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder();

  // Where to write, by AtomicFileWriter or relative to it; never by its name.
  const Folder& held() const { return held_; }
  // What has been written so far.
  std::vector<std::string> Names() const;

  // Gives it the name that Create() was told. That must be free, or an empty folder. An error if
  // somebody has exchanged it meanwhile.
  Status Rename();

 private:
  PartialFolder(std::string folder, Folder parent, std::string name, Folder held, mode_t mode)
      : folder_(std::move(folder)),
        parent_(std::move(parent)),
        name_(std::move(name)),
        held_(std::move(held)),
        mode_(mode) {}
  std::string folder_;
  Folder parent_;
  std::string name_;  // in the parent; "" once it has been renamed
  Folder held_;
  mode_t mode_;  // at the end
};

// Names of those in `folder` that a killed process of this user left; none that others gave such a
// name.
std::vector<std::string> LeftPartialFolders(const Folder& folder);

// Removes one with the files in it. False: something is left, errno says why.
bool RemovePartialFolder(const Folder& folder, const std::string& name);

}  // namespace batchlight
