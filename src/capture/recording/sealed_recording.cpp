#include "capture/recording/sealed_recording.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace batchlight::capture {
namespace {

Status Exchanged(const std::string& path) {
  return OutputError(path + " is no longer what was recorded: somebody moved it, or put another " +
                     "file under its name; it is neither read nor exported");
}

}  // namespace

Result<std::shared_ptr<const SealedRecording>> SealedRecording::Open(const std::string& path,
                                                                     const std::string& identity) {
  ASSIGN_OR_RETURN(Folder parent, Folder::OpenParent(path));
  auto folder = std::make_shared<const Folder>(std::move(parent));
  const int fd = folder->OpenFile(LastPartOf(path), O_RDWR);
  auto sealed = std::make_shared<const SealedRecording>(path, std::move(folder), fd);
  if (fd < 0 && errno != ELOOP && errno != ENOENT && errno != ENXIO) {
    return InputError("cannot open " + path + ": " + std::strerror(errno));
  }
  if (fd < 0 || sealed->Identity() != identity) return Exchanged(path);
  return sealed;
}

SealedRecording::~SealedRecording() {
  if (fd_ >= 0) close(fd_);
}

std::string SealedRecording::Identity() const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return "unknown";
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
}

Status SealedRecording::CheckIsNamed() const {
  struct stat info {
  }, named{};
  if (fd_ < 0 || fstat(fd_, &info) != 0) return {};  // Map() says why it is not read
  const bool is_there =
      fstatat(folder_->fd(), LastPartOf(path_).c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && info.st_dev == named.st_dev && info.st_ino == named.st_ino) return {};
  return Exchanged(path_);
}

Result<MappedFile> SealedRecording::Map() const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return InputError("cannot open " + path_ + ": " + std::strerror(EMFILE));
  return MappedFile::FromDescriptor(fd, path_);
}

}  // namespace batchlight::capture
