#include "inject/buffer/chunk_file.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include <atomic>

#include "format/layout.h"
#include "inject/buffer/disk_space.h"
#include "inject/rt/control.h"
#include "inject/rt/guard.h"
#include "inject/rt/process.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

using format::RecordingStop;

constexpr int64_t kFirstBackoffNs = 100'000'000;
constexpr int64_t kLongestBackoffNs = 5'000'000'000;

constinit std::atomic<uint64_t> g_file_end{0};
constinit std::atomic<uint64_t> g_mapped_bytes{0};
// What is reserved beyond the file's end reaches to here. A forked child has a file of its own.
constinit std::atomic<uint64_t> g_room_end{0};
constinit std::atomic<bool> g_has_no_room{false};  // the file system cannot reserve there
// After the disk refused, nobody asks again before this instant (CLOCK_MONOTONIC_COARSE).
constinit std::atomic<int64_t> g_retry_at_ns{0};
constinit std::atomic<int64_t> g_backoff_ns{0};
constinit std::atomic<bool> g_was_left_out{false};  // the disk had no file for this process

uint32_t PageBytes() {
  const uint64_t page = ::getauxval(AT_PAGESZ);
  return page > format::kPageBytes ? static_cast<uint32_t>(page) : format::kPageBytes;
}
uint32_t RoundToPage(uint64_t bytes) {
  const uint64_t page = PageBytes();
  return static_cast<uint32_t>((bytes + page - 1) / page * page);
}
uint32_t OrDefault(uint32_t value, uint32_t fallback) { return value != 0 ? value : fallback; }

uint64_t BudgetBytes() { return OrDefault(Control()->budget_bytes, kDefaultBudgetBytes); }

// The chunk's size within the budget: at most an eighth of what is free, so that late threads of a
// program with many still find room for a small chunk. 0 = none.
uint32_t TakeChunkBudget(uint32_t wanted, uint32_t least, uint32_t replaces) {
  const uint64_t budget = BudgetBytes();
  uint64_t mapped = g_mapped_bytes.load(std::memory_order_relaxed);
  for (;;) {
    const uint64_t others = mapped > replaces ? mapped - replaces : 0;
    const uint64_t free = budget > others ? budget - others : 0;
    uint64_t bytes = wanted;
    while (bytes > least && bytes > free / 8) bytes = RoundToPage(bytes / 2);
    if (bytes < least) bytes = least;
    if (bytes > free) return 0;
    if (g_mapped_bytes.compare_exchange_weak(mapped, mapped + bytes, std::memory_order_relaxed)) {
      t_thread.budget_bytes += bytes;
      return static_cast<uint32_t>(bytes);
    }
  }
}

constexpr int kLeftOut = -4096;  // no errno

// The process's first file would be one of those that stay free on the disk.
bool IsLeftOut(int folder) {
  if (HasProcessFile() || LeavesFiles(folder)) return false;
  if (!g_was_left_out.exchange(true, std::memory_order_relaxed)) {
    Control()->processes_unfiled.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

// The folder is the process's user's alone, so nobody else put anything under that name. Or
// kLeftOut.
int OpenProcessFile() {
  char path[64];
  Text name(path, sizeof path);
  name.Add(uint64_t{g_process.pid}).Add("-").Add(static_cast<uint64_t>(g_process.attach_ns));
  name.Add(".blp");
  const int dir_fd = OpenSessionDir();
  if (dir_fd < 0) return dir_fd;
  const int fd = IsLeftOut(dir_fd)
                     ? kLeftOut
                     : sys::OpenAt(dir_fd, path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  sys::Close(dir_fd);
  return fd;
}

// For file systems without fallocate: blocks exist once they have been written.
long WriteZeros(int fd, uint64_t offset, uint32_t bytes) {
  static constinit char zeros[4096] = {};  // as a constant it would lie in the library's file
  for (uint32_t done = 0; done < bytes;) {
    const long wrote =
        sys::Call(SYS_pwrite64, fd, zeros, sizeof zeros, static_cast<off_t>(offset + done));
    if (wrote == -EINTR) continue;
    if (wrote <= 0) return wrote == 0 ? -EIO : wrote;
    done += static_cast<uint32_t>(wrote);
  }
  return 0;
}

bool IsUnsupported(long error) { return error == -EOPNOTSUPP || error == -ENOSYS; }

long Allocate(int fd, int mode, uint64_t offset, uint64_t bytes) {
  long result = -EINTR;
  for (int attempt = 0; attempt < 16 && result == -EINTR; ++attempt) {
    result =
        sys::Call(SYS_fallocate, fd, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  }
  return result;
}

// Under btrfs's quotas each page that is written needs room of its own for a while, also where
// blocks are reserved: a quota that our reserve fills up would take the pages that are mapped.
bool CanReserveRoom(int fd) {
  struct statfs disk;
  return sys::Call(SYS_fstatfs, fd, &disk) == 0 && disk.f_type != BTRFS_SUPER_MAGIC;
}

// Reserves beyond the file's end what sealing it will need: of a quota nobody can tell how much is
// left. The tool gives it back right before it seals. No further than `limit`, where a file system
// may raise SIGXFSZ. 0 or -errno.
long ReserveRoom(int fd, uint64_t offset, uint64_t end, uint64_t limit) {
  if (offset == 0 && !CanReserveRoom(fd)) g_has_no_room.store(true, std::memory_order_relaxed);
  if (g_has_no_room.load(std::memory_order_relaxed)) return 0;
  uint64_t room_end = end + end / kSealedShare;
  if (room_end > limit) room_end = limit;
  uint64_t reserved = g_room_end.load(std::memory_order_relaxed);
  const uint64_t from = reserved > offset ? reserved : offset;
  if (from >= room_end) return 0;
  const long result = Allocate(fd, FALLOC_FL_KEEP_SIZE, from, room_end - from);
  if (IsUnsupported(result)) {
    g_has_no_room.store(true, std::memory_order_relaxed);
    return 0;
  }
  while (result == 0 && reserved < room_end &&
         !g_room_end.compare_exchange_weak(reserved, room_end, std::memory_order_relaxed)) {
  }
  return result;
}

// Reserves disk blocks, so that storing into the mapping cannot fail (SIGBUS) on a full disk. 0 or
// -errno.
long ReserveBlocks(int fd, uint64_t offset, uint32_t bytes) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  (void)sys::Call(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit);
  // Growing past the limit would raise SIGXFSZ in the program.
  if (offset + bytes > limit.rlim_cur) return -EFBIG;
  if (const long room = ReserveRoom(fd, offset, offset + bytes, limit.rlim_cur); room != 0) {
    return room;
  }
  const long result = Allocate(fd, 0, offset, bytes);
  return IsUnsupported(result) ? WriteZeros(fd, offset, bytes) : result;
}

// Within the limits for all processes, then on the disk. 0 or -errno.
long ReservePlace(int fd, uint64_t offset, uint32_t bytes) {
  const RecordingStop limit =
      TakeDiskSpace(fd, bytes, !g_has_no_room.load(std::memory_order_relaxed));
  if (limit != RecordingStop::kNone) {
    StopRecording(limit);
    return -ENOSPC;
  }
  const long result = ReserveBlocks(fd, offset, bytes);
  if (result == 0) return 0;
  ReturnDiskSpace(bytes);
  if (result == -ENOSPC || result == -EDQUOT) {
    NoteGrowthError(result);  // first: the tool reads it when it is woken
    StopRecording(RecordingStop::kDiskFull);
  }
  return result;
}

void* MapChunk(uint32_t bytes, bool* disk_refused) {
  const int fd = OpenProcessFile();
  if (fd < 0) {
    *disk_refused = true;
    if (fd != kLeftOut) NoteGrowthError(fd);
    return nullptr;
  }
  const uint64_t offset = g_file_end.fetch_add(bytes, std::memory_order_relaxed);
  void* memory = MAP_FAILED;
  long error = ReservePlace(fd, offset, bytes);
  if (error == 0) {
    const long mapped =
        sys::Call(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (sys::IsError(mapped)) {
      error = mapped;
    } else {
      memory = reinterpret_cast<void*>(mapped);
    }
  } else {
    *disk_refused = true;
  }
  if (memory == MAP_FAILED) {  // gives the place back, unless another thread took the next one
    NoteGrowthError(error);
    uint64_t end = offset + bytes;
    g_file_end.compare_exchange_strong(end, offset, std::memory_order_relaxed);
  }
  sys::Close(fd);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool BackingOff() {
  const int64_t retry_at = g_retry_at_ns.load(std::memory_order_relaxed);
  return retry_at != 0 && sys::Nanoseconds(CLOCK_MONOTONIC_COARSE) < retry_at;
}

void BackOff() {
  int64_t wait = g_backoff_ns.load(std::memory_order_relaxed) * 2;
  if (wait < kFirstBackoffNs) wait = kFirstBackoffNs;
  if (wait > kLongestBackoffNs) wait = kLongestBackoffNs;
  g_backoff_ns.store(wait, std::memory_order_relaxed);
  g_retry_at_ns.store(sys::Nanoseconds(CLOCK_MONOTONIC_COARSE) + wait, std::memory_order_relaxed);
}

}  // namespace

ChunkFault OpenChunk(uint32_t wanted, uint32_t least, uint32_t replaces, Chunk* chunk) {
  if (BackingOff()) return ChunkFault::kFile;
  least = RoundToPage(least);
  wanted = RoundToPage(wanted < least ? least : wanted);
  uint32_t bytes = TakeChunkBudget(wanted, least, replaces);
  if (bytes == 0) return ChunkFault::kBudget;
  bool disk_refused = false;
  void* memory = MapChunk(bytes, &disk_refused);
  if (memory == nullptr && disk_refused && bytes > least) {  // the last blocks of a full disk
    ReturnThreadBudget(bytes - least);
    bytes = least;
    memory = MapChunk(bytes, &disk_refused);
  }
  if (memory == nullptr) {
    ReturnThreadBudget(bytes);
    BackOff();  // also without address space: each try costs tens of microseconds
    return ChunkFault::kFile;
  }
  g_backoff_ns.store(0, std::memory_order_relaxed);
  g_retry_at_ns.store(0, std::memory_order_relaxed);
  // The file has room but no pages yet. Read ahead, the first touch would zero all of them at once
  // (0.4 to 0.8 ms for 1 MiB), in the middle of the thread's work.
  sys::Advise(memory, bytes, MADV_RANDOM);
  sys::Advise(memory, bytes, MADV_DONTFORK);
  sys::Advise(memory, bytes, MADV_DONTDUMP);
  *chunk = {static_cast<char*>(memory), bytes};
  return ChunkFault::kNone;
}

void CloseChunk(const Chunk& chunk) {
  sys::Unmap(chunk.base, chunk.bytes);
  ReturnThreadBudget(chunk.bytes);
}

bool TakeBudget(size_t bytes) {
  uint64_t mapped = g_mapped_bytes.load(std::memory_order_relaxed);
  do {
    if (mapped + bytes > BudgetBytes()) return false;
  } while (
      !g_mapped_bytes.compare_exchange_weak(mapped, mapped + bytes, std::memory_order_relaxed));
  return true;
}
// Never below zero: a forked child gives back what its parent took.
void ReturnBudget(size_t bytes) {
  uint64_t mapped = g_mapped_bytes.load(std::memory_order_relaxed);
  while (!g_mapped_bytes.compare_exchange_weak(mapped, mapped > bytes ? mapped - bytes : 0,
                                               std::memory_order_relaxed)) {
  }
}

bool TakeThreadBudget(size_t bytes) {
  if (!TakeBudget(bytes)) return false;
  t_thread.budget_bytes += bytes;
  return true;
}
void ReturnThreadBudget(size_t bytes) {
  if (bytes > t_thread.budget_bytes) bytes = t_thread.budget_bytes;
  t_thread.budget_bytes -= bytes;
  ReturnBudget(bytes);
}
void ReturnAllThreadBudget() { ReturnThreadBudget(t_thread.budget_bytes); }

uint32_t FirstChunkBytes() {
  return RoundToPage(OrDefault(Control()->first_chunk_bytes, kDefaultFirstChunkBytes));
}
uint32_t MaxChunkBytes() {
  return RoundToPage(OrDefault(Control()->max_chunk_bytes, kDefaultMaxChunkBytes));
}

bool WasLeftOut() { return g_was_left_out.load(std::memory_order_relaxed); }
bool HasProcessFile() { return g_file_end.load(std::memory_order_relaxed) != 0; }

void ForgetProcessFile() {
  g_file_end.store(0, std::memory_order_relaxed);
  g_room_end.store(0, std::memory_order_relaxed);
  g_mapped_bytes.store(0, std::memory_order_relaxed);
  g_retry_at_ns.store(0, std::memory_order_relaxed);
  g_backoff_ns.store(0, std::memory_order_relaxed);
  g_was_left_out.store(false, std::memory_order_relaxed);
}

}  // namespace batchlight::inject
