#include "inject/timers/next_function.h"

#include <dlfcn.h>

#include "inject/rt/glibc.h"  // dlsym as every glibc has it; not where pthread_create is defined

namespace batchlight::inject::timers {

void* FindNextFunction(const char* name) {
  return dlsym != nullptr ? dlsym(RTLD_NEXT, name) : nullptr;
}

}  // namespace batchlight::inject::timers
