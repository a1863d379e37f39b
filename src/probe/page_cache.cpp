#include "probe/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace batchlight::probe {

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

}  // namespace batchlight::probe
