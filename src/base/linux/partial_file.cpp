#include "base/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace batchlight {
namespace {

bool Rename(const Folder& folder, const std::string& from, const std::string& to, bool replace) {
  const int fd = folder.fd();
  if (replace) return folder.Move(from, folder, to);
  // Not every file system can rename without replacing; a second link fails alike.
  if (renameat2(fd, from.c_str(), fd, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (linkat(fd, from.c_str(), fd, to.c_str(), 0) == 0) return folder.Remove(from);
  if (errno == EEXIST) return false;
  // Nor can every one link (FUSE, object stores): whoever makes the name first has it.
  const int claimed = folder.OpenFile(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (claimed < 0) return false;
  close(claimed);
  if (folder.Move(from, folder, to)) return true;
  const int error = errno;
  folder.Remove(to);
  errno = error;
  return false;
}

// Some file systems (NFS, FUSE) say only when a descriptor is closed that there was no room for
// what was written. Closing a second one does not let go of the lock.
bool IsTaken(int fd) {
  const int second = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return second < 0 || close(second) == 0;
}

// Whoever may write the folder may have moved the file and put something else under its name.
bool IsStillNamed(int fd, const Folder& folder, const std::string& name) {
  struct stat info {
  }, named{};
  if (fstat(fd, &info) != 0) return false;
  if (fstatat(folder.fd(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (info.st_dev == named.st_dev && info.st_ino == named.st_ino) return true;
  errno = ENOENT;
  return false;
}

// Who waits for a file may take it at once, and another writer of ours replace it; on NFS a
// replaced file that is open keeps a name.
bool IsNoOthers(int fd, const Folder& folder, const std::string& name) {
  struct stat info {
  }, named{};
  if (fstat(fd, &info) != 0) return false;
  if (fstatat(folder.fd(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (info.st_uid == named.st_uid) return true;
  errno = ENOENT;
  return false;
}

// The file, locked as its writer would have it. -1: it is none of this user's, or is being written.
int LockedIfLeft(const Folder& folder, const std::string& name) {
  const int fd = folder.OpenFile(name, O_RDWR);
  if (fd < 0) return -1;
  struct stat info {};
  const bool ours = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
  if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

bool IsLeftBehind(const Folder& folder, const std::string& name) {
  const int fd = LockedIfLeft(folder, name);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

void RemoveIfLeftBehind(const Folder& folder, const std::string& name) {
  const int fd = LockedIfLeft(folder, name);
  if (fd < 0) return;
  folder.Remove(name);
  close(fd);
}

bool MarkAsWritten(int fd, const Folder& folder, const std::string& name) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return IsStillNamed(fd, folder, name);
}

bool FinishPartial(int fd, const Folder& folder, const std::string& partial_name,
                   const std::string& final_name, const NewFile& how) {
  bool done = IsTaken(fd);
  done = done && (how.owner == static_cast<uid_t>(-1) || fchown(fd, how.owner, how.group) == 0);
  done = done && IsStillNamed(fd, folder, partial_name);
  done = done && Rename(folder, partial_name, final_name, how.replace);
  // What is another user's was put under the partial name since that was looked at.
  done = done && IsNoOthers(fd, folder, final_name);
  const int error = errno;
  if (close(fd) != 0 && done) return false;
  errno = error;
  return done;
}

void DropPartial(int fd, const Folder& folder, const std::string& partial_name) {
  if (IsStillNamed(fd, folder, partial_name)) folder.Remove(partial_name);
  close(fd);
}

int SecondStandardOutput() { return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0); }

void EndIfUnread() {}  // the write itself did

void MakeSizeLimitAnError() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace batchlight
