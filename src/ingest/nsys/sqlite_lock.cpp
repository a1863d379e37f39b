#include "ingest/nsys/sqlite_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace batchlight {
namespace {

// SQLite's locking bytes (sqlite.org/fileformat2.html: the lock-byte page).
constexpr off_t kReservedByte = 0x40000001;
constexpr off_t kSharedFirst = 0x40000002;
constexpr off_t kSharedBytes = 510;
constexpr int kAttempts = 20;
constexpr useconds_t kPauseUs = 10'000;

// False: another program holds it. Locks of the open file, which no other descriptor's end drops.
bool LockToRead(int fd) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_start = kSharedFirst;
    lock.l_len = kSharedBytes;
    // A file system without locks has none that another could hold.
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES)) return true;
    usleep(kPauseUs);
  }
  return false;
}

bool SomebodyWrites(int fd) {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_start = kReservedByte;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// The first bytes of a regular file; "" for anything else.
std::string BeginningOf(const std::string& path, size_t bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return "";
  struct stat info {};
  std::string text(bytes, '\0');
  const bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t got = is_file ? pread(fd, text.data(), bytes, 0) : 0;
  close(fd);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

// A journal with a header takes the file back to what it was.
bool HasJournal(const std::string& path) {
  constexpr char kMagic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  return BeginningOf(path + "-journal", 8) == std::string(kMagic, 8);
}

// A log with more than its header holds pages that the file does not.
bool HasLog(const std::string& path, int fd) {
  constexpr off_t kReadVersion = 19;
  constexpr size_t kHeaderBytes = 32;
  char version = 0;
  return pread(fd, &version, 1, kReadVersion) == 1 && version == 2 &&
         BeginningOf(path + "-wal", kHeaderBytes + 1).size() > kHeaderBytes;
}

// Whether it is a file of this user, or missing: nobody else has put a pipe or link there.
bool IsOwnOrMissing(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT;
  return S_ISREG(info.st_mode) && info.st_uid == geteuid();
}

Status LeftBeside(const std::string& path, const char* suffix) {
  return InputError(path + ": a program was interrupted while it wrote the file, or still does (" +
                    path + suffix +
                    " is still there); open it once with sqlite3, or export it again");
}

}  // namespace

Result<std::shared_ptr<const SqliteLock>> SqliteLock::Take(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return InputError("cannot open " + path + ": " + std::strerror(errno));
  const bool reads_log = HasLog(path, fd);
  std::shared_ptr<const SqliteLock> lock(new SqliteLock(fd, reads_log));
  if (!LockToRead(fd)) {
    return InputError(path +
                      ": the file is locked by another program; try again when it has finished");
  }
  if (!SomebodyWrites(fd) && HasJournal(path)) return LeftBeside(path, "-journal");
  const bool is_own = IsOwnOrMissing(path + "-wal") && IsOwnOrMissing(path + "-shm");
  if (reads_log && !is_own) return LeftBeside(path, "-wal");
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
