#include "ingest/nsys/sqlite_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/file_lock.h"
#include "base/folder.h"

namespace batchlight {
namespace {

// SQLite's locking bytes (sqlite.org/fileformat2.html: the lock-byte page).
constexpr int64_t kReservedByte = 0x40000001;
constexpr int64_t kSharedFirst = 0x40000002;
constexpr int64_t kSharedBytes = 510;
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kPause{10};

// False: another program holds it.
bool WaitForLock(int fd) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (LockToRead(fd, kSharedFirst, kSharedBytes)) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

// Where the file itself lies: SQLite looks for what belongs to it there, not beside a link to it.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// What lies beside the file, never followed and never waited for.
struct Beside {
  bool is_missing = false;
  bool is_own = false;    // a file of this user: nobody else has put a pipe or link there
  std::string beginning;  // of a regular file, at most `bytes`
};

Beside LookBeside(const std::string& path, const char* suffix, size_t bytes) {
  Beside beside;
  const auto folder = Folder::OpenParent(path);
  if (!folder.ok()) return beside;
  const int fd = folder->OpenFile(LastPartOf(path) + suffix, O_RDONLY);
  if (fd < 0) {
    beside.is_missing = errno == ENOENT;
    return beside;
  }
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    beside.is_own = static_cast<uid_t>(info.st_uid) == geteuid();
    beside.beginning.resize(bytes);
    const auto got = pread(fd, beside.beginning.data(), bytes, 0);
    beside.beginning.resize(got > 0 ? static_cast<size_t>(got) : 0);
  }
  close(fd);
  return beside;
}

bool IsOwnOrMissing(const std::string& path, const char* suffix) {
  const Beside beside = LookBeside(path, suffix, 0);
  return beside.is_own || beside.is_missing;
}

// A journal with a header takes the file back to what it was.
bool HasJournal(const std::string& path) {
  constexpr char kMagic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  return LookBeside(path, "-journal", 8).beginning == std::string(kMagic, 8);
}

// A log with more than its header holds pages that the file does not.
bool HasLog(const std::string& path, int fd) {
  constexpr off_t kReadVersion = 19;
  constexpr size_t kHeaderBytes = 32;
  char version = 0;
  return pread(fd, &version, 1, kReadVersion) == 1 && version == 2 &&
         LookBeside(path, "-wal", kHeaderBytes + 1).beginning.size() > kHeaderBytes;
}

Status LeftBeside(const std::string& path, const std::string& left) {
  return InputError(path + ": a program was interrupted while it wrote the file, or still does (" +
                    left + " is still there); open it once with sqlite3, or export it again");
}

}  // namespace

Result<std::shared_ptr<const SqliteLock>> SqliteLock::Take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return InputError("cannot open " + path + ": " + std::strerror(errno));
  const std::string real = Resolved(path);
  const bool reads_log = HasLog(real, fd);
  std::shared_ptr<const SqliteLock> lock(new SqliteLock(fd, reads_log));
  if (!WaitForLock(fd)) {
    return InputError(path +
                      ": the file is locked by another program; try again when it has finished");
  }
  if (!IsLockedToWrite(fd, kReservedByte, 1) && HasJournal(real)) {
    return LeftBeside(path, real + "-journal");
  }
  const bool is_own = IsOwnOrMissing(real, "-wal") && IsOwnOrMissing(real, "-shm");
  if (reads_log && !is_own) return LeftBeside(path, real + "-wal");
  return lock;
}

SqliteLock::~SqliteLock() { close(fd_); }

std::string SqliteLock::Address(const std::string& path) const {
  std::string address = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      address += '%';
      address += "0123456789ABCDEF"[c >> 4];
      address += "0123456789ABCDEF"[c & 15];
    } else {
      address += c;
    }
  }
  return address + (reads_log_ ? "" : "?immutable=1");
}

}  // namespace batchlight
