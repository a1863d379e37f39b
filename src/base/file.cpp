#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace batchlight {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string Reason(std::string_view what, const std::string& path) {
  return std::string(what) + " " + path + ": " + std::strerror(errno);
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
  // Without O_NONBLOCK a FIFO would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return InputError(Reason("cannot open", path));
  return FromDescriptor(fd, path);
}

Result<MappedFile> MappedFile::Open(const Folder& folder, const std::string& name) {
  const std::string path = folder.path() + "/" + name;
  const int fd = folder.OpenFile(name, O_RDONLY);
  if (fd < 0 && errno == ELOOP) return InputError("cannot read " + path + ": not a regular file");
  if (fd < 0) return InputError(Reason("cannot open", path));
  return FromDescriptor(fd, path);
}

Result<MappedFile> MappedFile::FromDescriptor(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return InputError("cannot read " + path + ": not a regular file");
  }
  MappedFile file;
  file.size_ = BytesToRead(fd, info);
  if (file.size_ > 0) {
    void* data = mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      Status status = InputError(Reason("cannot map", path));
      close(fd);
      return status;
    }
    file.data_ = static_cast<const uint8_t*>(data);
  }
  close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

std::vector<std::string> LeftPartials(const Folder& folder, const std::string& name) {
  std::vector<std::string> left;
  for (const std::string& entry : folder.Names()) {
    const size_t infix = entry.rfind(kPartialInfix);
    if (infix == std::string::npos || (!name.empty() && entry.substr(0, infix) != name)) continue;
    if (!AreRandomLetters(entry.substr(infix + std::strlen(kPartialInfix)))) continue;
    const int fd = folder.OpenFile(entry, O_RDWR);
    struct stat info {};
    const bool ours =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid();
    // Whoever writes it holds the lock.
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0) left.push_back(entry);
    if (fd >= 0) close(fd);
  }
  return left;
}

Result<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path, const NewFile& how) {
  AtomicFileWriter writer;
  writer.path_ = path;
  writer.how_ = how;
  if (how.folder == nullptr) {
    auto folder = Folder::OpenParent(path);
    if (!folder.ok()) {
      return OutputError(Reason("cannot write", path) +
                         "; choose another folder or create it first");
    }
    writer.own_folder_.emplace(std::move(folder).value());
  }
  const Folder& folder = writer.folder();
  const std::string name = LastPartOf(path);
  for (const std::string& left : LeftPartials(folder, name)) folder.Remove(left);
  writer.partial_name_ = name + kPartialInfix + RandomLetters();
  writer.fd_ = how.is_private
                   ? folder.MakePrivateFile(writer.partial_name_)
                   : folder.OpenFile(writer.partial_name_, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (writer.fd_ < 0) {
    return OutputError(Reason("cannot write", path) + "; choose another folder or create it first");
  }
  flock(writer.fd_, LOCK_EX | LOCK_NB);  // LeftPartials() sees by it that we live
  writer.buffer_.reserve(kBufferBytes);
  return writer;
}

Result<AtomicFileWriter> AtomicFileWriter::Stream(const std::string& path) {
  AtomicFileWriter writer;
  const bool is_standard = path == "-";
  writer.path_ = is_standard ? "standard output" : path;
  writer.fd_ = is_standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                           : open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (writer.fd_ < 0) return OutputError(Reason("cannot write", writer.path_));
  writer.buffer_.reserve(kBufferBytes);
  return writer;
}

AtomicFileWriter::AtomicFileWriter(AtomicFileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      partial_name_(std::move(other.partial_name_)),
      how_(other.how_),
      own_folder_(std::move(other.own_folder_)),
      buffer_(std::move(other.buffer_)),
      flushed_bytes_(other.flushed_bytes_),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFileWriter::~AtomicFileWriter() {
  if (fd_ < 0) return;
  close(fd_);
  if (!partial_name_.empty()) folder().Remove(partial_name_);
}

Status AtomicFileWriter::Write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) RETURN_IF_ERROR(Flush());
  buffer_.append(bytes);
  return {};
}

Status AtomicFileWriter::Flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return OutputError(
          Reason("cannot write", path_) +
          (partial_name_.empty()
               ? "; what it got so far is not whole"
               : "; nothing was left under that name. Free space or choose another folder"));
    }
    done += static_cast<size_t>(written);
  }
  flushed_bytes_ += buffer_.size();
  buffer_.clear();
  return {};
}

bool AtomicFileWriter::Rename() const {
  const std::string name = LastPartOf(path_);
  const int fd = folder().fd();
  if (how_.replace) return renameat(fd, partial_name_.c_str(), fd, name.c_str()) == 0;
  // Not every file system can rename without replacing; a second link fails alike.
  if (renameat2(fd, partial_name_.c_str(), fd, name.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (linkat(fd, partial_name_.c_str(), fd, name.c_str(), 0) == 0) {
    return folder().Remove(partial_name_);
  }
  if (errno == EEXIST) return false;
  // Nor can every one link (FUSE, object stores): whoever makes the name first has it.
  const int claimed = folder().OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (claimed < 0) return false;
  close(claimed);
  if (renameat(fd, partial_name_.c_str(), fd, name.c_str()) == 0) return true;
  const int error = errno;
  folder().Remove(name);
  errno = error;
  return false;
}

Status AtomicFileWriter::Commit() {
  RETURN_IF_ERROR(Flush());
  const bool is_stream = partial_name_.empty();
  const bool keeps_owner = how_.owner == static_cast<uid_t>(-1);
  bool done = keeps_owner || fchown(fd_, how_.owner, how_.group) == 0;
  done = done && (is_stream || Rename());
  int error = errno;
  if (close(std::exchange(fd_, -1)) != 0 && done) {
    done = false;
    error = errno;
  }
  if (done) return {};
  errno = error;
  Status status = OutputError(error == EEXIST ? path_ + " exists; it was made meanwhile"
                                              : Reason("cannot finish", path_));
  if (!is_stream) folder().Remove(partial_name_);
  return status;
}

Result<std::string> ReadWholeFile(const std::string& path) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  return std::string(file.text());
}

Status WriteWholeFile(const std::string& path, std::string_view text, const NewFile& how) {
  ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path, how));
  RETURN_IF_ERROR(writer.Write(text));
  return writer.Commit();
}

bool FileExists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

bool IsStream(const std::string& path) {
  struct stat info {};
  return path == "-" ||
         (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

}  // namespace batchlight
