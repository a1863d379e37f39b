#include "inject/rt/thread_exit.h"

#include <pthread.h>

#include "inject/rt/guard.h"

namespace batchlight::inject {
namespace {

pthread_key_t g_key;
bool g_have_key = false;
void (*g_at_exit)() = nullptr;

void AtThreadExit(void*) { g_at_exit(); }

}  // namespace

void PrepareThreadExit(void (*at_exit)()) {
  g_at_exit = at_exit;
  g_have_key = pthread_key_create != nullptr && pthread_setspecific != nullptr &&
               pthread_key_create(&g_key, AtThreadExit) == 0;
}

void CallAtThreadExit() {
  if (g_have_key) pthread_setspecific(g_key, &t_thread);  // any value but nullptr
}

}  // namespace batchlight::inject
