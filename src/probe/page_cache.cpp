#include "probe/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "probe/workers.h"

namespace batchlight::probe {
namespace {

constexpr useconds_t kPauseUs = 20'000;  // a slow disk's MiB comes within
constexpr int kQuietLooks = 3;

}  // namespace

void DropFromCache(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); }

std::optional<uint64_t> ResidentBytes(int fd, uint64_t bytes) {
  if (bytes == 0) return 0;
  void* const mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return std::nullopt;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  const int failed = mincore(mapped, bytes, pages.data());
  munmap(mapped, bytes);
  if (failed != 0) return std::nullopt;
  const auto resident = std::count_if(pages.begin(), pages.end(),
                                      [](unsigned char state) { return (state & 1) != 0; });
  return std::min(bytes, static_cast<uint64_t>(resident) * page);
}

void AwaitReadAhead(int fd, uint64_t bytes, int64_t limit_ns) {
  const int64_t until_ns = NowNs() + limit_ns;
  DropFromCache(fd);
  uint64_t kept = ResidentBytes(fd, bytes).value_or(0);  // by file systems in memory: all
  AwaitNothing(
      [&] {
        usleep(kPauseUs);
        const uint64_t found = ResidentBytes(fd, bytes).value_or(0);
        const uint64_t came = found > kept ? found - kept : 0;
        DropFromCache(fd);
        kept = std::min(kept, found);
        return came;
      },
      [&] { return NowNs() >= until_ns; });
}

void AwaitNothing(const std::function<uint64_t()>& count, const std::function<bool()>& is_over) {
  for (int quiet = 0; quiet < kQuietLooks && !is_over();) quiet = count() == 0 ? quiet + 1 : 0;
}

}  // namespace batchlight::probe
