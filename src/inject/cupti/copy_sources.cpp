#include "inject/cupti/copy_sources.h"

#include <sys/uio.h>

#include <algorithm>
#include <atomic>

#include "inject/buffer/facts.h"
#include "inject/collect/step_detail.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kCopy = 31, kAsyncCopy = 41;  // as in cuda_runtime_calls.def
constexpr uint32_t kHostToDevice = 1;
// Copies of a megabyte take 20 us and more, a look a few.
constexpr uint64_t kLeastBytes = 1 << 20;
constexpr uint32_t kMostLooks = 2048;
constexpr uint32_t kSampled = 128;

// What the calls' parameters begin with.
struct CopyParameters {
  void* to;
  const void* from;
  size_t bytes;
  uint32_t kind;
};

std::atomic<uint32_t> g_looks{0};
std::atomic_flag g_looking = ATOMIC_FLAG_INIT;
constinit CopySources g_sources;

size_t WriteNumber(uint64_t number, char* to) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  for (size_t i = 0; i < count; ++i) to[i] = digits[count - 1 - i];
  return count;
}

// Returns how many repeats there were if this is one, else 0.
uint32_t Take(const CopyParameters& copy) {
  if (!g_sources.Has(copy.from, copy.bytes)) return g_sources.Take(copy.from, copy.bytes, 0);
  g_looks.fetch_add(1, std::memory_order_relaxed);
  const uint64_t sample = SampleOfMemory(copy.from, copy.bytes);
  return sample == 0 ? 0 : g_sources.Take(copy.from, copy.bytes, sample);
}

// One thread at a time: another's copy meanwhile is not looked at.
void Look(const CopyParameters& copy) {
  if (g_looking.test_and_set(std::memory_order_acquire)) return;
  const uint32_t repeats = Take(copy);
  if (repeats >= 4 && (repeats & (repeats - 1)) == 0) {
    Guard guard;
    char text[1024];
    g_sources.Tell(text, sizeof text);
    if (guard) Property(guard, "copies.repeated", text);
  }
  g_looking.clear(std::memory_order_release);
}

}  // namespace

bool CopySources::Has(const void* from, uint64_t bytes) const {
  for (const Source& source : sources_) {
    if (source.from == from && source.bytes == bytes) return true;
  }
  return false;
}

CopySources::Source& CopySources::SourceOf(const void* from, uint64_t bytes) {
  Source* oldest = &sources_[0];
  Source* found = nullptr;
  for (Source& source : sources_) {
    if (source.bytes == bytes) ++source.copies_of_size;
    if (source.from == from && source.bytes == bytes) found = &source;
    const bool older = source.repeats != oldest->repeats ? source.repeats < oldest->repeats
                                                         : source.last < oldest->last;
    if (older) oldest = &source;
  }
  if (found != nullptr) return *found;
  *oldest = {.from = from, .bytes = bytes, .copies_of_size = 1};
  return *oldest;
}

uint32_t CopySources::Take(const void* from, uint64_t bytes, uint64_t sample) {
  Source& source = SourceOf(from, bytes);
  const bool again = sample != 0 && source.sample == sample;
  source.sample = sample;
  source.last = ++copies_;
  if (!again) return 0;
  ++source.repeats;
  return ++repeats_;
}

void CopySources::Tell(char* text, size_t room) const {
  constexpr size_t kLine = 64;  // three numbers at most
  size_t at = 0;
  for (const Source& source : sources_) {
    if (source.repeats == 0 || at + kLine > room) continue;
    uint32_t copies = 0;
    for (const Source& other : sources_) {
      if (other.bytes == source.bytes) copies = std::max(copies, other.copies_of_size);
    }
    if (at != 0) text[at++] = '\n';
    at += WriteNumber(source.repeats, text + at);
    text[at++] = ' ';
    at += WriteNumber(copies, text + at);
    text[at++] = ' ';
    at += WriteNumber(source.bytes, text + at);
  }
  text[at] = '\0';
}

// The kernel reads, which says of an address that is none so instead of ending the program.
uint64_t SampleOfMemory(const void* from, uint64_t bytes) {
  uint64_t words[kSampled];
  iovec sources[kSampled];
  const uint64_t stride = bytes / kSampled & ~uint64_t{7};
  if (stride == 0) return 0;
  for (uint64_t i = 0; i < kSampled; ++i) {
    // Further into each: not one column of a matrix.
    const uint64_t place = i * stride + (i * 136 % stride & ~uint64_t{7});
    sources[i] = {const_cast<char*>(static_cast<const char*>(from)) + place, 8};
  }
  const iovec to = {words, sizeof words};
  const long read = sys::Call(SYS_process_vm_readv, sys::Pid(), &to, 1, sources, kSampled, 0);
  if (read != long{sizeof words}) return 0;
  uint64_t hash = 0xcbf29ce484222325;
  bool same = true;
  for (const uint64_t word : words) {
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;
    same = same && word == words[0];
  }
  return same ? 0 : hash | 1;
}

void EnableCopyCallbacks(const Library& library, void* subscriber, const Options& options) {
  if (!options.copies || !options.runtime_calls) return;
  library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kCopy);
  library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kAsyncCopy);
}

void OnCopyCall(uint32_t domain, uint32_t cbid, const CallbackData& data) {
  constexpr uint32_t kEnter = 0;
  if (domain != kRuntimeApi || (cbid != kCopy && cbid != kAsyncCopy) || data.site != kEnter) return;
  if (data.parameters == nullptr || g_looks.load(std::memory_order_relaxed) >= kMostLooks) return;
  const auto& copy = *static_cast<const CopyParameters*>(data.parameters);
  if (copy.kind != kHostToDevice || copy.bytes < kLeastBytes) return;
  if (Collecting() && !IsPlainStep()) Look(copy);
}

}  // namespace batchlight::inject::cupti
