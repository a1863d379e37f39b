#include "capture/cpu/file_rights.h"

#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace batchlight::capture {
namespace {

std::vector<gid_t> GroupsNow() {
  std::vector<gid_t> groups(static_cast<size_t>(getgroups(0, nullptr)));
  groups.resize(static_cast<size_t>(getgroups(static_cast<int>(groups.size()), groups.data())));
  return groups;
}

// The C library's setgroups is for all threads of the process, the kernel's for this one.
void TakeGroups(const std::vector<gid_t>& groups) {
  syscall(SYS_setgroups, groups.size(), groups.data());
}

}  // namespace

// The groups first: only root may take others.
FileRights::FileRights(const std::optional<FileOwner>& user) {
  if (!user) return;
  std::vector<gid_t> groups = GroupsNow();
  TakeGroups(user->groups);
  const int group = setfsgid(user->gid);
  const int owner = setfsuid(user->uid);
  before_ = FileOwner{static_cast<uid_t>(owner), static_cast<gid_t>(group), std::move(groups)};
}

FileRights::~FileRights() {
  if (!before_) return;
  setfsuid(before_->uid);
  setfsgid(before_->gid);
  TakeGroups(before_->groups);
}

}  // namespace batchlight::capture
