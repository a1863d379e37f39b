// A folder of files that appears as a whole: the files are written into FOLDER.partial-<random>,
// and Commit() moves them into place. A failure before that leaves the folder as it was.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/partial_folder.h"
#include "base/status.h"

namespace batchlight {

class FolderOutput {
 public:
  // `into`: the folder that takes it, under the last part of its name; it stays open. Errors:
  // kOutput.
  static Result<FolderOutput> Create(const std::string& folder, const Folder* into = nullptr);

  // What takes the file of `FinalPath(name)` until Commit().
  const Folder& held() const { return partial_.held(); }
  // The folder that its files go to, where it was there already. Null: it is a new one.
  const Folder* existing() const { return existing_ ? &*existing_ : nullptr; }
  std::string FinalPath(std::string_view name) const;

  // Renames the folder; if it already exists, moves each file over the one of the same name. Of the
  // other files, those that `is_stale` names are removed, since they belong to what is being
  // replaced.
  Status Commit(const std::function<bool(std::string_view name)>& is_stale);

 private:
  FolderOutput(std::string folder, std::string place, PartialFolder partial,
               std::optional<Folder> existing)
      : folder_(std::move(folder)),
        place_(std::move(place)),
        partial_(std::move(partial)),
        existing_(std::move(existing)) {}
  Status MoveFiles(const std::function<bool(std::string_view name)>& is_stale);
  std::string folder_;
  std::string place_;  // the same, through the folder that takes it
  PartialFolder partial_;
  std::optional<Folder> existing_;
};

}  // namespace batchlight
