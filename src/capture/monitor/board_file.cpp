#include "capture/monitor/board_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace batchlight::capture {

Result<BoardFile> BoardFile::Create(const LiveFolder& live_folder) {
  const auto failed = [&](int error) {
    return OutputError("cannot write " + live_folder.path() + "/" + format::kStepBoardFile + ": " +
                       std::strerror(error));
  };
  constexpr size_t kBytes = sizeof(format::StepBoard);
  BoardFile file;
  file.fd_ = live_folder.folder().MakePrivateFile(format::kStepBoardFile);
  if (file.fd_ < 0) return failed(errno);
  // Storing into a hole on a full disk would be a SIGBUS, in the program.
  if (const int error = posix_fallocate(file.fd_, 0, kBytes); error != 0) return failed(error);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd_, 0);
  if (memory == MAP_FAILED) return failed(errno);
  file.board_ = static_cast<format::StepBoard*>(memory);
  file.board_->magic.store(format::kStepBoardMagic, std::memory_order_release);
  return file;
}

BoardFile::BoardFile(BoardFile&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)), fd_(std::exchange(other.fd_, -1)) {}

BoardFile::~BoardFile() {
  if (board_ != nullptr) munmap(board_, sizeof(format::StepBoard));
  if (fd_ >= 0) close(fd_);
}

bool BoardFile::GiveTo(uid_t user, gid_t group) const { return fchown(fd_, user, group) == 0; }

}  // namespace batchlight::capture
