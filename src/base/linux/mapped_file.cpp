#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight {
namespace {

// Without O_NONBLOCK a FIFO would wait for a writer.
constexpr int kForReading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Status CannotOpen(const std::string& path) {
  return InputError("cannot open " + path + ": " + std::strerror(errno));
}

// A file may claim terabytes and hold nothing: whoever walks through its pages would not come to an
// end. What recorders write has a page in each chunk at least.
size_t BytesToRead(int fd, const struct stat& info) {
  constexpr uint64_t kAlwaysBytes = 64 << 20, kMostPerByte = 1000, kBlockBytes = 512;
  const auto size = static_cast<uint64_t>(info.st_size);
  const uint64_t most =
      kAlwaysBytes + static_cast<uint64_t>(info.st_blocks) * kBlockBytes * kMostPerByte;
  if (size <= most) return size;
  // File systems that do not tell how much a file holds know no holes either.
  const off_t hole = lseek(fd, 0, SEEK_HOLE);
  return hole >= 0 && static_cast<uint64_t>(hole) < size ? most : size;
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = open(path.c_str(), kForReading);
  if (fd < 0) return CannotOpen(path);
  return FromDescriptor(fd, path);
}

Result<MappedFile> MappedFile::Open(const Folder& folder, const std::string& name) {
  const std::string path = folder.path() + "/" + name;
  const int fd = folder.OpenFile(name, O_RDONLY);
  if (fd < 0 && errno == ELOOP) return InputError("cannot read " + path + ": not a regular file");
  if (fd < 0) return CannotOpen(path);
  return FromDescriptor(fd, path);
}

Result<MappedFile> MappedFile::OpenBesideLocks(const std::string& path) {
  const int fd = open(path.c_str(), kForReading);
  if (fd < 0) return CannotOpen(path);
  auto file = Map(fd, path);
  if (file.ok()) {
    file->open_fd_ = fd;
  } else {
    close(fd);
  }
  return file;
}

Result<MappedFile> MappedFile::FromDescriptor(int fd, const std::string& path) {
  auto file = Map(fd, path);
  close(fd);
  return file;
}

Result<MappedFile> MappedFile::Map(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return InputError("cannot read " + path + ": not a regular file");
  }
  MappedFile file;
  file.size_ = BytesToRead(fd, info);
  if (file.size_ == 0) return file;
  void* data = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    return InputError("cannot map " + path + ": " + std::strerror(errno));
  }
  file.data_ = static_cast<const uint8_t*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      open_fd_(std::exchange(other.open_fd_, -1)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
  if (open_fd_ >= 0) close(open_fd_);
}

void ForgetPages(const void* begin, size_t bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = (from + page - 1) / page * page;
  const uintptr_t last = (from + bytes) / page * page;
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace batchlight
