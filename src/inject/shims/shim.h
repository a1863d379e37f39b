// What a shim does: SHIM declares one under the name that it takes from the C library, and one of
// the templates is its body. While nothing is collected that is a jump to the definition behind it.
//
// The thread holds nothing of ours while it is in the call: it may be cancelled there, jump out of
// a signal handler, or not come back at all.
#pragma once

#include <sys/types.h>

#include "inject/shims/next.h"

// Its own name in C++: the C library's headers declare theirs with attributes of their own.
#define SHIM(R, name, ...)                                                                     \
  extern "C" __attribute__((visibility("default"))) R Shim_##name(__VA_ARGS__) __asm__(#name); \
  R Shim_##name(__VA_ARGS__)

namespace batchlight::inject::shims {

template <class R>
int64_t Number(R result) {
  if constexpr (std::is_pointer_v<R>) {
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(result));
  } else {
    return static_cast<int64_t>(result);
  }
}

template <OsCall kCall, class R, class... Args>
R Timed(Args... args) {
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  g_api->done(kCall, begin, Number(result));
  return result;
}

// Returns how many bytes of the descriptor it has moved.
template <OsCall kCall, class R, class... Args>
R Moves(int descriptor, Args... args) {
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  g_api->done_io(kCall, begin, Number(result), Number(result), descriptor);
  return result;
}

// Moves nothing.
template <OsCall kCall, class R, class... Args>
R OfDescriptor(int descriptor, Args... args) {
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  g_api->done_io(kCall, begin, Number(result), -1, descriptor);
  return result;
}

template <OsCall kCall, class R, class... Args>
R Opens(const char* path, Args... args) {
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  const bool failed = Number(result) == (std::is_pointer_v<R> ? 0 : -1);
  g_api->done_path(kCall, begin, failed ? -1 : Number(result), path);
  return result;
}

// `closed`: the descriptor that the call takes away. Its name must be forgotten even while nothing
// is collected.
template <OsCall kCall, class R, class... Args>
R Closes(int closed, Args... args) {
  if (g_api != nullptr && t_vforks == 0) g_api->closing(closed);
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  g_api->done(kCall, begin, Number(result));
  return result;
}

template <OsCall kCall, class R, class... Args>
R Waits(const volatile void* object, Args... args) {
  if (!On()) return CallNext<kCall, R>(args...);
  const uint64_t begin = Now();
  const R result = CallNext<kCall, R>(args...);
  g_api->done_wait(kCall, begin, Number(result), object, 0);
  return result;
}

template <OsCall kCall, class R, class... Args>
R Wakes(const volatile void* object, Args... args) {
  if (On()) g_api->wake(kCall, object);
  return CallNext<kCall, R>(args...);
}

}  // namespace batchlight::inject::shims
