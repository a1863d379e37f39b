#include "capture/recording/sealed_recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight::capture {
namespace {

Status Exchanged(const std::string& path) {
  return OutputError(path + " is no longer what was recorded: somebody moved it, or put another " +
                     "file under its name; it is neither read nor exported");
}

// A number may be given to another file once its own is gone: where the file system says it, with
// the time of its birth.
std::string IdentityOf(int folder, const char* name, int flags) {
  struct stat info {};
  if (fstatat(folder, name, &info, flags) != 0) return {};
  struct statx more {};
  if (statx(folder, name, flags, STATX_BTIME, &more) != 0) more.stx_btime = {};
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) + ":" +
         std::to_string(more.stx_btime.tv_sec) + "." + std::to_string(more.stx_btime.tv_nsec);
}

}  // namespace

SealedRecording::SealedRecording(std::string path, std::shared_ptr<const Folder> folder, int fd)
    : path_(std::move(path)), folder_(std::move(folder)), fd_(fd) {
  if (fd_ >= 0) identity_ = IdentityOf(fd_, "", AT_EMPTY_PATH);
}

Status SealedRecording::Hold() {
  if (fd_ >= 0 || identity_.empty()) return {};
  fd_ = folder_->OpenFile(LastPartOf(path_), O_RDWR);
  if (fd_ < 0 && errno != ELOOP && errno != ENOENT && errno != ENXIO) {
    return InputError("cannot open " + path_ + ": " + std::strerror(errno));
  }
  if (fd_ >= 0 && IdentityOf(fd_, "", AT_EMPTY_PATH) == identity_) return {};
  LetGo();
  return Exchanged(path_);
}

void SealedRecording::LetGo() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Status SealedRecording::CheckIsNamed() const {
  if (identity_.empty()) return {};  // Map() says why it is not read
  const std::string named =
      IdentityOf(folder_->fd(), LastPartOf(path_).c_str(), AT_SYMLINK_NOFOLLOW);
  return named == identity_ ? Status() : Exchanged(path_);
}

Result<MappedFile> SealedRecording::Map() const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return InputError("cannot open " + path_ + ": " + std::strerror(EMFILE));
  return MappedFile::FromDescriptor(fd, path_);
}

}  // namespace batchlight::capture
