// The definition of a function that ours overrides: the next one in the order of the linker.
#pragma once

#include <dlfcn.h>

namespace batchlight::inject {

template <class F>
void FindNext(const char* name, F** function) {
  *function = dlsym != nullptr ? reinterpret_cast<F*>(dlsym(RTLD_NEXT, name)) : nullptr;
}

}  // namespace batchlight::inject
