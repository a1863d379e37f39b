// The definitions behind our shims, and whether anybody wants to know of the calls.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "inject/osrt/os_api.h"
#include "inject/rt/clock.h"

#define BATCHLIGHT_HIDDEN __attribute__((visibility("hidden")))

namespace batchlight::inject::shims {

using osrt::OsApi;
using osrt::OsCall;

// By number of the call; nullptr: not looked up yet, or the C library has none.
BATCHLIGHT_HIDDEN extern void* g_next[osrt::kCallNumbers];
BATCHLIGHT_HIDDEN extern void* g_next_trylock;       // pthread_mutex_trylock
BATCHLIGHT_HIDDEN extern void* g_next_tryread;       // pthread_rwlock_tryrdlock
BATCHLIGHT_HIDDEN extern void* g_next_trywrite;      // pthread_rwlock_trywrlock
BATCHLIGHT_HIDDEN extern void* g_next_trysemaphore;  // sem_trywait
BATCHLIGHT_HIDDEN extern void* g_next_syscall;
// Its struct's fields are known: it is glibc.
BATCHLIGHT_HIDDEN extern bool g_is_glibc;

BATCHLIGHT_HIDDEN extern const OsApi* g_api;
BATCHLIGHT_HIDDEN extern const std::atomic<uint32_t>* g_state;  // ControlPage::state; never nullptr
// More than 0 in a child of vfork, which lives in its parent's memory and must leave no trace
// there.
BATCHLIGHT_HIDDEN extern __thread uint32_t t_vforks;

inline bool On() {
  return __builtin_expect((g_state->load(std::memory_order_relaxed) & 1) != 0 && t_vforks == 0, 1);
}

inline uint64_t Now() {
  return __builtin_expect(g_api->ticks == nullptr, 1) ? CounterTicks() : g_api->ticks();
}

// Another library's constructor calls before ours has run.
BATCHLIGHT_HIDDEN void* FindNext(OsCall call);

template <OsCall kCall, class R, class... Args>
R CallNext(Args... args) {
  using Function = R(Args...);
  void* next = g_next[static_cast<uint32_t>(kCall)];
  if (__builtin_expect(next == nullptr, 0)) next = FindNext(kCall);
  if (__builtin_expect(next == nullptr, 0)) {
    errno = ENOSYS;
    return (R)(-1);  // NOLINT: of whatever type
  }
  return reinterpret_cast<Function*>(next)(args...);
}

}  // namespace batchlight::inject::shims
