#include "inject/python/import_libraries.h"

#include <link.h>

#include <atomic>
#include <cstring>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

// The loader's counts of libraries that came and went, in one word: no library is told twice.
std::atomic<uint64_t> g_counts{0};

int TakeCounts(dl_phdr_info* info, size_t bytes, void* user) {
  if (bytes < offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) return 1;
  *static_cast<uint64_t*>(user) =
      uint64_t{info->dlpi_adds} << 32 | (uint64_t{info->dlpi_subs} & UINT32_MAX);
  return 1;
}

uint32_t Present(uint64_t counts) {
  return static_cast<uint32_t>(counts >> 32) - static_cast<uint32_t>(counts);
}

struct Library {
  uint32_t place;  // in the loader's list, to whose end it adds
  uint32_t at = 0;
  char path[4096] = {};
};

// A copy: the loader's lock is not held while a record is written.
int TakePath(dl_phdr_info* info, size_t, void* user) {
  auto* library = static_cast<Library*>(user);
  if (library->at++ < library->place) return 0;
  if (info->dlpi_name != nullptr) Text(library->path, sizeof library->path).Add(info->dlpi_name);
  return 1;
}

}  // namespace

void TellLibraries() {
  uint64_t now = 0;
  dl_iterate_phdr(TakeCounts, &now);
  const uint64_t before = g_counts.exchange(now, std::memory_order_relaxed);
  if (before == now || before == 0 || !Collecting()) return;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr) return;
  for (uint32_t place = Present(before); place < Present(now); ++place) {
    Library library{.place = place};
    dl_iterate_phdr(TakePath, &library);
    const size_t bytes = std::strlen(library.path);
    if (bytes == 0 || !stream->Ensure(sizeof(format::ImportedFileRecord) + StringBytes(bytes))) {
      continue;
    }
    stream->Write(format::ImportedFileRecord{.file = stream->Intern(library.path, bytes),
                                             .bytes = sys::FileBytes(library.path)});
  }
}

}  // namespace batchlight::inject
