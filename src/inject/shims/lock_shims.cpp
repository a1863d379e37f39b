// Locks, conditions and semaphores. One that is free is taken by its try function, and only
// counted: programs lock so often that two readings of the clock would show.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "inject/shims/shim.h"

using namespace batchlight::inject::shims;

namespace {

using Try = int(void*);

uint32_t OwnerOf(const pthread_mutex_t* mutex) {
  return g_is_glibc ? static_cast<uint32_t>(mutex->__data.__owner) : 0;
}

// `is_taken`: what the try function returned says that the caller has it, or that waiting is no
// use.
template <OsCall kCall, class... Args>
int Locks(void* try_function, void* lock, uint32_t (*holder_of)(void*), Args... args) {
  if (!On()) return CallNext<kCall, int>(lock, args...);
  if (try_function != nullptr) {
    const int result = reinterpret_cast<Try*>(try_function)(lock);
    // A robust lock whose owner died is the caller's as well.
    if (result == 0 || result == EOWNERDEAD) {
      g_api->count(kCall);
      return result;
    }
    if (result != EBUSY) return CallNext<kCall, int>(lock, args...);  // it has the right error
  }
  const uint32_t holder = holder_of != nullptr ? holder_of(lock) : 0;
  const uint64_t begin = Now();
  const int result = CallNext<kCall, int>(lock, args...);
  g_api->done_wait(kCall, begin, result, lock, holder);
  return result;
}

uint32_t MutexHolder(void* mutex) { return OwnerOf(static_cast<pthread_mutex_t*>(mutex)); }
uint32_t WriterOf(void* lock) {
  return g_is_glibc
             ? static_cast<uint32_t>(static_cast<pthread_rwlock_t*>(lock)->__data.__cur_writer)
             : 0;
}

// sem_trywait says EAGAIN through errno, which must stay as it was.
template <OsCall kCall, class... Args>
int TakesSemaphore(sem_t* semaphore, Args... args) {
  if (!On()) return CallNext<kCall, int>(semaphore, args...);
  if (g_next_trysemaphore != nullptr) {
    const int before = errno;
    if (reinterpret_cast<Try*>(g_next_trysemaphore)(semaphore) == 0) {
      g_api->count(kCall);
      return 0;
    }
    errno = before;
  }
  return Waits<kCall, int>(semaphore, semaphore, args...);
}

bool IsWait(long operation) {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_WAIT_REQUEUE_PI:
    case 13:  // FUTEX_LOCK_PI2, Linux 5.14
      return true;
    default:
      return false;
  }
}

bool IsWake(long operation) {
  const long command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP;
}

long PlainCall(long number, long a, long b, long c, long d, long e, long f) {
  using Function = long(long, long, long, long, long, long, long);
  if (g_next_syscall != nullptr) {
    return reinterpret_cast<Function*>(g_next_syscall)(number, a, b, c, d, e, f);
  }
  const long result = batchlight::inject::sys::RawCall(number, a, b, c, d, e, f);
  if (!batchlight::inject::sys::IsError(result)) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

SHIM(int, pthread_mutex_lock, void* mutex) {
  return Locks<OsCall::k_pthread_mutex_lock>(g_next_trylock, mutex, MutexHolder);
}
SHIM(int, pthread_mutex_timedlock, void* mutex, const void* until) {
  return Locks<OsCall::k_pthread_mutex_timedlock>(g_next_trylock, mutex, MutexHolder, until);
}
SHIM(int, pthread_mutex_clocklock, void* mutex, int clock, const void* until) {
  return Locks<OsCall::k_pthread_mutex_clocklock>(g_next_trylock, mutex, MutexHolder, clock, until);
}
SHIM(int, pthread_rwlock_rdlock, void* lock) {
  return Locks<OsCall::k_pthread_rwlock_rdlock>(g_next_tryread, lock, WriterOf);
}
SHIM(int, pthread_rwlock_wrlock, void* lock) {
  return Locks<OsCall::k_pthread_rwlock_wrlock>(g_next_trywrite, lock, WriterOf);
}

SHIM(int, pthread_cond_wait, void* condition, void* mutex) {
  return Waits<OsCall::k_pthread_cond_wait, int>(condition, condition, mutex);
}
SHIM(int, pthread_cond_timedwait, void* condition, void* mutex, const void* until) {
  return Waits<OsCall::k_pthread_cond_timedwait, int>(condition, condition, mutex, until);
}
SHIM(int, pthread_cond_clockwait, void* condition, void* mutex, int clock, const void* until) {
  return Waits<OsCall::k_pthread_cond_clockwait, int>(condition, condition, mutex, clock, until);
}
SHIM(int, pthread_cond_signal, void* condition) {
  return Wakes<OsCall::k_pthread_cond_signal, int>(condition, condition);
}
SHIM(int, pthread_cond_broadcast, void* condition) {
  return Wakes<OsCall::k_pthread_cond_broadcast, int>(condition, condition);
}

SHIM(int, sem_wait, sem_t* semaphore) { return TakesSemaphore<OsCall::k_sem_wait>(semaphore); }
SHIM(int, sem_timedwait, sem_t* semaphore, const void* until) {
  return TakesSemaphore<OsCall::k_sem_timedwait>(semaphore, until);
}
SHIM(int, sem_clockwait, sem_t* semaphore, int clock, const void* until) {
  return TakesSemaphore<OsCall::k_sem_clockwait>(semaphore, clock, until);
}
SHIM(int, sem_post, sem_t* semaphore) {
  return Wakes<OsCall::k_sem_post, int>(semaphore, semaphore);
}

SHIM(int, pthread_barrier_wait, void* barrier) {
  return Waits<OsCall::k_pthread_barrier_wait, int>(barrier, barrier);
}
SHIM(int, pthread_join, pthread_t thread, void** result) {
  return Timed<OsCall::k_pthread_join, int>(thread, result);
}

// libgomp, libstdc++ and PyTorch wait without the C library. The last word lies on the caller's
// stack, whether it has passed one or not.
SHIM(long, syscall, long number, long a, long b, long c, long d, long e, long f) {
  if (number != SYS_futex || !On()) return PlainCall(number, a, b, c, d, e, f);
  const auto* word = reinterpret_cast<const void*>(a);
  if (IsWake(b)) g_api->wake(OsCall::k_futex, word);
  if (!IsWait(b)) return PlainCall(number, a, b, c, d, e, f);
  const uint64_t begin = Now();
  const long result = PlainCall(number, a, b, c, d, e, f);
  g_api->done_wait(OsCall::k_futex, begin, result, word, 0);
  return result;
}
