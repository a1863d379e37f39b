#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string Reason(std::string_view what, const std::string& path) {
  return std::string(what) + " " + path + ": " + std::strerror(errno);
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // Without O_NONBLOCK a FIFO would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return InputError(Reason("cannot open", path));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return InputError("cannot read " + path + ": not a regular file");
  }
  MappedFile file;
  file.size_ = static_cast<size_t>(info.st_size);
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

Result<AtomicFileWriter> AtomicFileWriter::Create(const std::string& path) {
  AtomicFileWriter writer;
  writer.path_ = path;
  writer.partial_path_ = path + ".partial-" + std::to_string(getpid());
  writer.fd_ = open(writer.partial_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (writer.fd_ < 0) {
    return OutputError(Reason("cannot write", path) + "; choose another folder or create it first");
  }
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
      partial_path_(std::move(other.partial_path_)),
      buffer_(std::move(other.buffer_)),
      flushed_bytes_(other.flushed_bytes_),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFileWriter::~AtomicFileWriter() {
  if (fd_ < 0) return;
  close(fd_);
  if (!partial_path_.empty()) unlink(partial_path_.c_str());
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
          (partial_path_.empty()
               ? "; what it got so far is not whole"
               : "; nothing was left under that name. Free space or choose another folder"));
    }
    done += static_cast<size_t>(written);
  }
  flushed_bytes_ += buffer_.size();
  buffer_.clear();
  return {};
}

Status AtomicFileWriter::Commit() {
  RETURN_IF_ERROR(Flush());
  const bool is_stream = partial_path_.empty();
  if (close(std::exchange(fd_, -1)) == 0 &&
      (is_stream || rename(partial_path_.c_str(), path_.c_str()) == 0)) {
    return {};
  }
  Status status = OutputError(Reason("cannot finish", path_));
  if (!is_stream) unlink(partial_path_.c_str());
  return status;
}

Result<std::string> ReadWholeFile(const std::string& path) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  return std::string(file.text());
}

Status WriteWholeFile(const std::string& path, std::string_view text) {
  ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path));
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
