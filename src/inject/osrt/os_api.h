// What the library of shims (inject/shims), which -t osrt preloads besides this one, calls here.
// Both are of one build.
#pragma once

#include <atomic>
#include <cstdint>

namespace batchlight::inject::osrt {

enum class OsCall : uint32_t {
#define OS_CALL(name, number, doing) k_##name = number,
#include "format/os_calls.def"
#undef OS_CALL
};
inline constexpr uint32_t kCallNumbers = 128;  // all are below

struct OsApi {
  // ControlPage::state. Nothing below is called while it says that nothing is collected.
  const std::atomic<uint32_t>* state;
  // The clock of `begin`; nullptr = the processor's counter.
  uint64_t (*ticks)();

  // A call that began at `begin` has returned.
  void (*done)(OsCall call, uint64_t begin, int64_t result);
  // ... that moved `result` bytes (none if negative) of a descriptor, or is about one (-1 = none).
  void (*done_io)(OsCall call, uint64_t begin, int64_t result, int64_t bytes, int descriptor);
  // ... that opened `path`.
  void (*done_path)(OsCall call, uint64_t begin, int64_t result, const char* path);
  // ... that waited for `object`. `holder`: thread that held it, 0 = look who has announced it.
  void (*done_wait)(OsCall call, uint64_t begin, int64_t result, const volatile void* object,
                    uint32_t holder);
  // A call that is not timed: a lock that was free.
  void (*count)(OsCall call);
  // The thread is about to wake who waits for `object`.
  void (*wake)(OsCall call, const volatile void* object);
  // The descriptor is about to be closed.
  void (*closing)(int descriptor);
  // Why shims are off in this process.
  void (*reason)(const char* text);
};

}  // namespace batchlight::inject::osrt

// Attaches if that is still to be done. nullptr: -t osrt was not asked for, or this process is not
// recorded.
extern "C" const batchlight::inject::osrt::OsApi* batchlight_os_api();
