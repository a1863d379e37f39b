#include "base/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace batchlight {
namespace {

constexpr int kMostLinks = 40;  // as the kernel follows

// Where the link points; `place` is its own path.
std::string TargetOf(int link, const std::string& place) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(link, "", target, sizeof target);
  const std::string_view text(target, static_cast<size_t>(std::max<ssize_t>(length, 0)));
  const size_t slash = place.rfind('/');
  if (text.starts_with('/') || slash == std::string::npos) return std::string(text);
  return place.substr(0, slash + 1) + std::string(text);
}

}  // namespace

Result<Folder> Folder::Open(const std::string& path, bool follow) {
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  const int fd = open(path.empty() ? "." : path.c_str(), flags);
  if (fd < 0) return InputError("cannot open folder " + path + ": " + std::strerror(errno));
  return Folder(fd, path);
}

// A link is held while its owner is looked at, so that it is this one that is followed.
Result<Folder> Folder::OpenForOutput(const std::string& path) {
  std::string place = path;
  for (int links = 0; links < kMostLinks; ++links) {
    while (place.size() > 1 && place.ends_with('/')) place.pop_back();
    const int fd = open(place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) break;
    const Folder at(fd, path);
    const struct stat info = at.Info();
    if (!S_ISLNK(info.st_mode)) {
      auto folder = Open(at.DescriptorPath() + "/.");
      if (!folder.ok()) break;
      return std::move(folder).value().Named(path);
    }
    if (info.st_uid != geteuid() && info.st_uid != 0) {
      return OutputError("cannot write into " + path + ": it is a link that user " +
                         std::to_string(info.st_uid) + " put there, to " + TargetOf(fd, place) +
                         "; choose another folder with -o, or name that one");
    }
    place = TargetOf(fd, place);
  }
  return OutputError("cannot open folder " + path + ": " + std::strerror(errno));
}

std::string Folder::DescriptorPath() const { return "/proc/self/fd/" + std::to_string(fd_); }

int Folder::OpenFile(const std::string& name, int flags, mode_t mode) const {
  return openat(fd_, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
}

int Folder::OpenOwnFile(const std::string& name, bool or_roots) const {
  const int fd = OpenFile(name, O_RDONLY);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) return fd;
  const bool is_own = info.st_uid == geteuid() || (or_roots && info.st_uid == 0);
  if (S_ISREG(info.st_mode) && info.st_nlink == 1 && is_own) return fd;
  close(fd);
  errno = EPERM;
  return -1;
}

int Folder::MakePrivateFile(const std::string& name) const {
  const int fd = OpenFile(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (fd >= 0) (void)fchmod(fd, 0600);  // an unusual umask may have taken our own rights
  return fd;
}

bool Folder::Remove(const std::string& name) const { return unlinkat(fd_, name.c_str(), 0) == 0; }

bool Folder::Move(const std::string& name, const Folder& to, const std::string& new_name) const {
  return renameat(fd_, name.c_str(), to.fd_, new_name.c_str()) == 0;
}

bool Folder::MakeFolder(const std::string& name, mode_t mode) const {
  return mkdirat(fd_, name.c_str(), mode) == 0;
}

bool Folder::RemoveFolder(const std::string& name) const {
  return unlinkat(fd_, name.c_str(), AT_REMOVEDIR) == 0;
}

bool Folder::Has(const std::string& name) const {
  struct stat info {};
  return fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::Names() const {
  std::vector<std::string> names;
  const int copy = openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(copy >= 0 ? fdopendir(copy) : nullptr,
                                                      closedir);
  while (directory != nullptr) {
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct stat Folder::Info() const {
  struct stat info {};
  (void)fstat(fd_, &info);
  return info;
}

bool Folder::IsOurs() const { return Info().st_uid == geteuid(); }

bool Folder::IsOursAlone() const {
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  const struct stat info = Info();
  return info.st_uid == geteuid() && (info.st_mode & kOthersWrite) == 0;
}

bool Folder::Lock() const { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

bool Folder::IsLinkOfOthers(const std::string& name) const {
  struct stat info {};
  return fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode) &&
         info.st_uid != 0 && info.st_uid != geteuid();
}

bool Folder::Holds(const std::string& name, const Folder& other) const {
  struct stat info {};
  const struct stat of_other = other.Info();
  return fstatat(fd_, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         info.st_dev == of_other.st_dev && info.st_ino == of_other.st_ino;
}

Result<std::string> MakePrivateFolder(const std::string& prefix) {
  std::string path = prefix + "XXXXXX";
  if (mkdtemp(path.data()) != nullptr) return path;
  return OutputError("cannot make folder " + path + ": " + std::strerror(errno));
}

}  // namespace batchlight
