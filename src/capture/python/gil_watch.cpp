#include "capture/python/gil_watch.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace batchlight::capture {
namespace {

// From the last holder to the end of what waiters sleep in: two conditions and two mutexes of 48
// and 40 bytes, or a little more.
constexpr uint64_t kGilBytes = 224;
constexpr size_t kWords = kGilBytes / sizeof(uint64_t);
constexpr uint64_t kMostIntervalUs = 1'000'000'000;
constexpr uint64_t kFirstWait = 24;  // behind last_holder, locked and switch_number

const PythonThread* ThreadWith(uint64_t state, std::span<const PythonThread> threads) {
  const auto found = std::find_if(threads.begin(), threads.end(), [&](const PythonThread& thread) {
    return state != 0 && thread.state == state;
  });
  return found == threads.end() ? nullptr : &*found;
}

bool LooksLikeGil(uint64_t interval_us, uint64_t locked) {
  return interval_us > 0 && interval_us < kMostIntervalUs && static_cast<uint32_t>(locked) <= 1;
}

}  // namespace

GilWatch::Holder GilWatch::Find(const TargetMemory& memory, uint64_t futex,
                                std::span<const PythonThread> threads) {
  const bool is_known =
      last_holder_ != 0 && futex >= last_holder_ + kFirstWait && futex < last_holder_ + kGilBytes;
  if (is_known) {
    std::array<uint64_t, 2> words{};
    if (!memory.Read(last_holder_, words.data(), sizeof words)) return {};
    const PythonThread* thread = ThreadWith(words[0], threads);
    const bool is_locked = static_cast<uint32_t>(words[1]) != 0;
    return {true, thread != nullptr && is_locked ? thread->tid : 0};
  }
  if (futex < kGilBytes) return {};
  const uint64_t begin = (futex & ~uint64_t{7}) - kGilBytes;
  std::array<uint64_t, kWords> words{};
  if (!memory.Read(begin, words.data(), sizeof words)) return {};
  for (size_t i = 1; i + kFirstWait / sizeof(uint64_t) <= kWords; ++i) {
    const PythonThread* thread = ThreadWith(words[i], threads);
    if (thread == nullptr || !LooksLikeGil(words[i - 1], words[i + 1])) continue;
    last_holder_ = begin + i * sizeof(uint64_t);
    return {true, static_cast<uint32_t>(words[i + 1]) != 0 ? thread->tid : 0};
  }
  return {};
}

uint64_t FutexOf(const char* syscall_text) {
  char* end = nullptr;
  const unsigned long number = std::strtoul(syscall_text, &end, 10);
  if (end == syscall_text || number != SYS_futex) return 0;  // "running"
  return std::strtoull(end, nullptr, 16);
}

}  // namespace batchlight::capture
