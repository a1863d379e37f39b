#include "inject/rt/fork_handler.h"

#include <dlfcn.h>

#include "inject/rt/glibc.h"

// What pthread_atfork of glibc calls, which cannot be weak itself: glibc links it into the library.
extern "C" {
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) noexcept;
extern void* __dso_handle __attribute__((visibility("hidden")));
}

namespace batchlight::inject {

void OnForkInChild(void (*in_child)()) {
  if (__register_atfork != nullptr) {
    __register_atfork(nullptr, nullptr, in_child, __dso_handle);
    return;
  }
  using AtFork = int(void (*)(), void (*)(), void (*)());
  auto* const at_fork =
      dlsym != nullptr ? reinterpret_cast<AtFork*>(dlsym(RTLD_DEFAULT, "pthread_atfork")) : nullptr;
  if (at_fork != nullptr) at_fork(nullptr, nullptr, in_child);
}

}  // namespace batchlight::inject
