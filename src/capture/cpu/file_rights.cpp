#include "capture/cpu/file_rights.h"

#include <sys/fsuid.h>

namespace batchlight::capture {

// The group first: only root may take another.
FileRights::FileRights(const std::optional<FileOwner>& user) {
  if (!user) return;
  const int group = setfsgid(user->gid);
  const int owner = setfsuid(user->uid);
  before_ = FileOwner{static_cast<uid_t>(owner), static_cast<gid_t>(group)};
}

FileRights::~FileRights() {
  if (!before_) return;
  setfsuid(before_->uid);
  setfsgid(before_->gid);
}

}  // namespace batchlight::capture
