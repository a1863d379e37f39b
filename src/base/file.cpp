#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/partial_file.h"
#include "base/printable_text.h"

namespace batchlight {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string Reason(std::string_view what, const std::string& path) {
  return std::string(what) + " " + path + ": " + std::strerror(errno);
}

// What a partial file begins with: the name, or as much of it as leaves room for what follows. One
// that is too long itself stays so.
std::string PartialStem(const std::string& name) {
  constexpr size_t kLongest = 255;  // of a file's name, on all but few file systems
  static const size_t most = kLongest - std::strlen(kPartialInfix) - RandomLetters().size();
  if (name.size() <= most || name.size() > kLongest) return name;
  size_t bytes = most;
  while (bytes > 0 && (static_cast<unsigned char>(name[bytes]) & 0xc0) == 0x80) --bytes;  // UTF-8
  return name.substr(0, bytes);
}

}  // namespace

std::vector<std::string> LeftPartials(const Folder& folder, const std::string& name) {
  std::vector<std::string> left;
  const std::string stem = PartialStem(name);
  for (const std::string& entry : folder.Names()) {
    const size_t infix = entry.rfind(kPartialInfix);
    if (infix == std::string::npos || (!name.empty() && entry.substr(0, infix) != stem)) continue;
    if (!AreRandomLetters(entry.substr(infix + std::strlen(kPartialInfix)))) continue;
    if (IsLeftBehind(folder, entry)) left.push_back(entry);
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
  for (const std::string& left : LeftPartials(folder, name)) RemoveIfLeftBehind(folder, left);
  // Another writer of the same name may take the file for one that was left before it is marked.
  constexpr int kMostTries = 10;
  for (int tries = 1;; ++tries) {
    writer.partial_name_ = PartialStem(name) + kPartialInfix + RandomLetters();
    writer.fd_ = how.is_private
                     ? folder.MakePrivateFile(writer.partial_name_)
                     : folder.OpenFile(writer.partial_name_, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (writer.fd_ < 0) {
      return OutputError(Reason("cannot write", path) +
                         "; choose another folder or create it first");
    }
    if (MarkAsWritten(writer.fd_, folder, writer.partial_name_) || tries == kMostTries) break;
    DropPartial(writer.fd_, folder, writer.partial_name_);
  }
  writer.buffer_.reserve(kBufferBytes);
  return writer;
}

Result<AtomicFileWriter> AtomicFileWriter::Stream(const std::string& path) {
  AtomicFileWriter writer;
  const bool is_standard = path == "-";
  writer.path_ = is_standard ? "standard output" : path;
  writer.fd_ = is_standard ? SecondStandardOutput() : open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (writer.fd_ < 0) return OutputError(Reason("cannot write", writer.path_));
  writer.is_terminal_ = isatty(writer.fd_) != 0;
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
      fd_(std::exchange(other.fd_, -1)),
      is_terminal_(other.is_terminal_) {}

AtomicFileWriter::~AtomicFileWriter() {
  if (fd_ < 0) return;
  partial_name_.empty() ? void(close(fd_)) : DropPartial(fd_, folder(), partial_name_);
}

Status AtomicFileWriter::Write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) RETURN_IF_ERROR(Flush());
  buffer_.append(bytes);
  return {};
}

Status AtomicFileWriter::Flush() {
  if (is_terminal_) buffer_ = PrintableText(buffer_);
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      EndIfUnread();
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

Status AtomicFileWriter::Commit() {
  RETURN_IF_ERROR(Flush());
  const int fd = std::exchange(fd_, -1);
  const bool done = partial_name_.empty()
                        ? close(fd) == 0
                        : FinishPartial(fd, folder(), partial_name_, LastPartOf(path_), how_);
  const int error = errno;
  if (done) return {};
  errno = error;
  Status status = OutputError(error == EEXIST   ? path_ + " exists; it was made meanwhile"
                              : error == ENOENT ? "cannot finish " + path_ +
                                                      ": somebody moved it while it was written"
                                                : Reason("cannot finish", path_));
  const bool is_moved = error == ENOENT;  // what has the name by now is another's
  if (!partial_name_.empty() && !is_moved) folder().Remove(partial_name_);
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
