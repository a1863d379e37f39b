#include "inject/rt/thread_exit.h"

#include <pthread.h>

#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/levels.h"
#include "inject/rt/guard.h"

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
