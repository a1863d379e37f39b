#include "inject/cupti/helper_thread.h"

#include <pthread.h>

#include <csignal>

#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {

bool StartHelperThread(void* (*main)(void*), void* argument) {
  if (pthread_create == nullptr) return false;
  // The program's signals are for the program's threads.
  const uint64_t all = ~uint64_t{0};
  uint64_t before = 0;
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int result = pthread_create(&thread, &attributes, main, argument);
  sys::Call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof all);
  return result == 0;
}

}  // namespace batchlight::inject::cupti
