// Files of a program that another user runs are opened with that user's rights.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace batchlight::capture {

struct FileOwner {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups = {};
};

// While it lives, this thread alone opens files as that user: root's tool reads no file, and wakes
// no device, that the user could not. Without a user it does nothing.
class FileRights {
 public:
  explicit FileRights(const std::optional<FileOwner>& user);
  ~FileRights();
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

 private:
  std::optional<FileOwner> before_;
};

}  // namespace batchlight::capture
