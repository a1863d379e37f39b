#include "probe/storage_work.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "probe/shuffled_order.h"

namespace batchlight::probe {
namespace {

constexpr uint64_t kMostCreated = 20'000;  // by each worker

// A block of memory at a page's begin, filled with bytes that neither compress nor repeat.
class Block {
 public:
  explicit Block(uint64_t bytes) : words_(bytes / 8) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 4096, bytes) == 0) data_.reset(static_cast<uint64_t*>(memory));
    if (!ok()) return;
    uint64_t state = static_cast<uint64_t>(NowNs()) * 2 + 1;
    for (uint64_t i = 0; i < words_; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      data_.get()[i] = state;
    }
  }
  bool ok() const { return data_ != nullptr; }
  char* data() const { return reinterpret_cast<char*>(data_.get()); }
  // Makes it differ from all blocks before, in each 512 bytes.
  void Change() {
    ++changes_;
    for (uint64_t i = 0; i < words_; i += 64) data_.get()[i] += changes_;
  }

 private:
  struct Free {
    void operator()(uint64_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint64_t, Free> data_;
  uint64_t words_;
  uint64_t changes_ = 0;
};

// What a worker opens before it is measured.
struct Opened {
  int fd = -1;
  std::unique_ptr<Block> block;

  int Prepare(const Folder& folder, const std::string& name, int flags, uint64_t block_bytes) {
    block = std::make_unique<Block>(block_bytes);
    if (!block->ok()) return ENOMEM;
    if (name.empty()) return 0;
    fd = folder.OpenFile(name, flags, 0600);
    return fd < 0 ? errno : 0;
  }
};

// The whole of it, or the error that stopped it.
int64_t WriteAll(int fd, const char* data, uint64_t bytes) {
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t written = write(fd, data + done, bytes - done);
    if (written < 0 && errno != EINTR) return -1;
    done += static_cast<uint64_t>(std::max<ssize_t>(0, written));
  }
  return static_cast<int64_t>(done);
}

int64_t ReadAt(int fd, char* data, uint64_t bytes, uint64_t offset) {
  const ssize_t got = pread(fd, data, bytes, static_cast<off_t>(offset));
  if (got == 0) errno = EIO;  // somebody cut the file
  return got > 0 ? got : -1;
}

// Writes blocks until the time is up, then syncs; both are measured.
int WriteAndSync(Turn& turn, int fd, Block& block, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes && !turn.TimeIsUp(); at += kMiB) {
    block.Change();
    const uint64_t part = std::min(kMiB, bytes - at);
    if (!turn.Measure([&] { return WriteAll(fd, block.data(), part); })) {
      const int error = errno;
      fsync(fd);  // what is not on the disk cannot be read cold
      return error;
    }
  }
  return fsync(fd) == 0 ? 0 : errno;
}

int ReadSequentially(Turn& turn, const Opened& opened, uint64_t block_bytes, uint64_t bytes,
                     bool once) {
  const uint64_t part = bytes / static_cast<uint64_t>(turn.workers) / block_bytes * block_bytes;
  const uint64_t begin = part * static_cast<uint64_t>(turn.worker);
  do {
    for (uint64_t at = 0; at + block_bytes <= part; at += block_bytes) {
      if (turn.TimeIsUp()) return 0;
      if (!turn.Measure(
              [&] { return ReadAt(opened.fd, opened.block->data(), block_bytes, begin + at); })) {
        return errno;
      }
    }
  } while (!once && part > 0);
  return 0;
}

int ReadRandomly(Turn& turn, const Opened& opened, uint64_t block_bytes, uint64_t bytes,
                 bool once) {
  const uint64_t blocks = bytes / static_cast<uint64_t>(turn.workers) / block_bytes;
  const uint64_t begin = blocks * block_bytes * static_cast<uint64_t>(turn.worker);
  uint64_t pass = 0;
  do {
    ShuffledOrder order(blocks, static_cast<uint64_t>(turn.worker) * 1000 + pass++);
    uint64_t number = 0;
    while (order.Next(number)) {
      if (turn.TimeIsUp()) return 0;
      const uint64_t at = begin + number * block_bytes;
      if (!turn.Measure([&] { return ReadAt(opened.fd, opened.block->data(), block_bytes, at); })) {
        return errno;
      }
    }
  } while (!once && blocks > 0);
  return 0;
}

int64_t ReadFile(const Folder& folder, const std::string& name, const Block& block) {
  const int fd = folder.OpenFile(name, O_RDONLY);
  if (fd < 0) return -1;
  int64_t bytes = 0;
  ssize_t got = 0;
  while ((got = read(fd, block.data(), kSmallFileBytes)) > 0) bytes += got;
  close(fd);
  return got < 0 ? -1 : bytes;
}

int ReadSmallFiles(Turn& turn, const StorageFiles& files, const Block& block, uint64_t count,
                   bool once) {
  const auto step = static_cast<uint64_t>(turn.workers);
  const auto first = static_cast<uint64_t>(turn.worker);
  do {
    for (uint64_t i = first; i < count; i += step) {
      if (turn.TimeIsUp()) return 0;
      if (!turn.Measure([&] { return ReadFile(*files.folder, files.small_files[i], block); })) {
        return errno;
      }
    }
  } while (!once && first < count);
  return 0;
}

int64_t Listing(int fd, uint64_t& entries) {
  alignas(8) std::array<char, 32 << 10> buffer;
  const long bytes = syscall(SYS_getdents64, fd, buffer.data(), buffer.size());
  for (long at = 0; at < bytes; ++entries) {
    unsigned short length = 0;  // d_reclen, after inode and offset
    std::memcpy(&length, buffer.data() + at + 16, sizeof(length));
    at += length;
  }
  return bytes;
}

int ListFolder(Turn& turn, const Folder& folder) {
  const int fd = folder.OpenFile(".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) return errno;
  uint64_t entries = 0;
  int error = 0;
  while (error == 0 && !turn.TimeIsUp()) {
    int64_t bytes = 0;
    if (!turn.Measure([&] { return bytes = Listing(fd, entries); })) error = errno;
    if (bytes == 0) lseek(fd, 0, SEEK_SET);
  }
  close(fd);
  turn.operations = entries;
  turn.bytes = 0;
  return error;
}

// All files that kCreate made, one after the other, each worker beginning elsewhere.
template <typename Operation>
int EachCreated(Turn& turn, const StorageFiles& files, const Operation& operation) {
  std::vector<std::string> names;
  for (size_t worker = 0; worker < files.created.size(); ++worker) {
    for (uint64_t i = 0; i < files.created[worker]; ++i) {
      names.push_back(MetadataName(static_cast<int>(worker), i));
    }
  }
  if (names.empty()) return 0;
  size_t at = names.size() * static_cast<size_t>(turn.worker) / static_cast<size_t>(turn.workers);
  turn.begin_ns = NowNs();
  while (!turn.TimeIsUp()) {
    const std::string& name = names[at++ % names.size()];
    if (!turn.Measure([&] { return operation(name); })) return errno;
  }
  return 0;
}

int64_t StatOf(const Folder& folder, const std::string& name) {
  struct stat info = {};
  return fstatat(folder.fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
}

int64_t OpenAndClose(const Folder& folder, const std::string& name) {
  const int fd = folder.OpenFile(name, O_RDONLY);
  return fd < 0 ? -1 : close(fd);
}

int CreateFiles(Turn& turn, const Folder& folder) {
  while (!turn.TimeIsUp() && turn.operations < kMostCreated) {
    const std::string name = MetadataName(turn.worker, turn.operations);
    if (!turn.Measure([&]() -> int64_t {
          const int fd = folder.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
          return fd < 0 ? -1 : close(fd);
        })) {
      return errno;
    }
  }
  return 0;
}

// Each worker removes what the worker of its number created.
int RemoveFiles(Turn& turn, const StorageFiles& files) {
  const auto worker = static_cast<size_t>(turn.worker);
  const uint64_t count = worker < files.created.size() ? files.created[worker] : 0;
  while (turn.operations < count && !turn.TimeIsUp()) {
    const std::string name = MetadataName(turn.worker, turn.operations);
    if (!turn.Measure([&] { return int64_t{unlinkat(files.folder->fd(), name.c_str(), 0)}; })) {
      return errno;
    }
  }
  return 0;
}

WorkersSpec MetadataWork(const StorageCase& what, const StorageFiles& files) {
  WorkersSpec spec;
  spec.run = [&what, &files](Turn& turn) {
    const Folder& folder = *files.folder;
    switch (what.kind) {
      case StorageKind::kCreate:
        return CreateFiles(turn, folder);
      case StorageKind::kStat:
        return EachCreated(turn, files, [&](const auto& name) { return StatOf(folder, name); });
      case StorageKind::kOpen:
        return EachCreated(turn, files,
                           [&](const auto& name) { return OpenAndClose(folder, name); });
      case StorageKind::kList:
        return ListFolder(turn, folder);
      default:
        return RemoveFiles(turn, files);
    }
  };
  return spec;
}

}  // namespace

std::string MetadataName(int worker, uint64_t number) {
  return "meta-" + std::to_string(worker) + "-" + std::to_string(number);
}

std::string SmallFileName(int worker, uint64_t number) {
  return "small-" + std::to_string(worker) + "-" + std::to_string(number);
}

std::string CheckpointName(int worker) { return "checkpoint-" + std::to_string(worker); }

WorkersSpec WriteDataFile(const Folder& folder, uint64_t bytes) {
  auto opened = std::make_shared<Opened>();
  WorkersSpec spec;
  spec.prepare = [opened, &folder](Turn&) {
    return opened->Prepare(folder, kDataName, O_WRONLY | O_CREAT | O_EXCL, kMiB);
  };
  spec.run = [opened, bytes](Turn& turn) {
    return WriteAndSync(turn, opened->fd, *opened->block, bytes);
  };
  return spec;
}

WorkersSpec WriteSmallFiles(const Folder& folder, uint64_t count) {
  auto opened = std::make_shared<Opened>();
  WorkersSpec spec;
  spec.prepare = [opened, &folder](Turn&) {
    return opened->Prepare(folder, "", 0, kSmallFileBytes);
  };
  spec.run = [opened, &folder, count](Turn& turn) {
    const uint64_t own = count / static_cast<uint64_t>(turn.workers);
    while (turn.operations < own && !turn.TimeIsUp()) {
      const std::string name = SmallFileName(turn.worker, turn.operations);
      opened->block->Change();
      if (!turn.Measure([&]() -> int64_t {
            const int fd = folder.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
            if (fd < 0) return -1;
            const int64_t written = WriteAll(fd, opened->block->data(), kSmallFileBytes);
            const bool synced = written >= 0 && fdatasync(fd) == 0;
            const int error = errno;
            close(fd);
            errno = error;
            return synced ? written : -1;
          })) {
        return errno;
      }
    }
    return 0;
  };
  return spec;
}

WorkersSpec RemoveCreated(const StorageFiles& files) {
  WorkersSpec spec;
  spec.run = [&files](Turn&) {
    for (size_t worker = 0; worker < files.created.size(); ++worker) {
      for (uint64_t i = 0; i < files.created[worker]; ++i) {
        files.folder->Remove(MetadataName(static_cast<int>(worker), i));
      }
    }
    return 0;
  };
  return spec;
}

WorkersSpec StorageWork(const StorageCase& what, const StorageFiles& files, uint64_t bytes,
                        bool cold) {
  const bool reads_blocks =
      what.kind == StorageKind::kSequentialRead || what.kind == StorageKind::kRandomRead;
  if (!what.reads_data() && what.kind != StorageKind::kCheckpoint) {
    return MetadataWork(what, files);
  }
  auto opened = std::make_shared<Opened>();
  WorkersSpec spec;
  spec.prepare = [opened, &what, &files, reads_blocks](Turn& turn) {
    const bool writes = what.kind == StorageKind::kCheckpoint;
    const std::string name = reads_blocks ? kDataName : writes ? CheckpointName(turn.worker) : "";
    const int flags = writes ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
    const int error = opened->Prepare(*files.folder, name, flags, what.block_bytes);
    // As fio does: without it the kernel reads ahead of random reads.
    if (error == 0 && reads_blocks) {
      posix_fadvise(
          opened->fd, 0, 0,
          what.kind == StorageKind::kRandomRead ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
    }
    return error;
  };
  spec.run = [opened, &what, &files, bytes, cold](Turn& turn) {
    switch (what.kind) {
      case StorageKind::kSequentialRead:
        return ReadSequentially(turn, *opened, what.block_bytes, bytes, cold);
      case StorageKind::kRandomRead:
        return ReadRandomly(turn, *opened, what.block_bytes, bytes, cold);
      case StorageKind::kSmallFiles:
        return ReadSmallFiles(turn, files, *opened->block, bytes / kSmallFileBytes, cold);
      default:
        return WriteAndSync(turn, opened->fd, *opened->block,
                            bytes / static_cast<uint64_t>(turn.workers));
    }
  };
  return spec;
}

}  // namespace batchlight::probe
