#include "inject/rt/thread_exit.h"

#include <pthread.h>

#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/levels.h"
#include "inject/rt/guard.h"

// glibc 2.34 moved these into libc.so.6 under a new version; the old version still exists there and
// is the only one on older systems, where a program without libpthread has none at all: weak.
#if defined(__x86_64__) && defined(__GLIBC__)
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");
#elif defined(__aarch64__) && defined(__GLIBC__)
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.17");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.17");
#endif
#pragma weak pthread_key_create
#pragma weak pthread_setspecific

namespace batchlight::inject {
namespace {

pthread_key_t g_key;
bool g_have_key = false;

void AtThreadExit(void*) {
  nvtx::ReleaseLevels();
  Guard guard;
  if (guard) ThreadStream::CloseCurrent(guard);
}

}  // namespace

void PrepareThreadExit() {
  g_have_key = pthread_key_create != nullptr && pthread_setspecific != nullptr &&
               pthread_key_create(&g_key, AtThreadExit) == 0;
}

void CallAtThreadExit() {
  if (g_have_key) pthread_setspecific(g_key, &t_thread);
}

}  // namespace batchlight::inject
