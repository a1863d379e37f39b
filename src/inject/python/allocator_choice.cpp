#include "inject/python/allocator_choice.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

#include "cpython/frame_layout.h"
#include "inject/buffer/facts.h"
#include "inject/rt/control.h"
#include "inject/rt/option_number.h"

namespace batchlight::inject {
namespace {

// Whether it was there.
bool RemoveVariable(const char* assignment) {
  char** to = environ;
  bool found = false;
  for (char** from = environ; from != nullptr && *from != nullptr; ++from) {
    if (std::strcmp(*from, assignment) == 0) {
      found = true;
    } else {
      *to++ = *from;
    }
  }
  if (found) *to = nullptr;
  return found;
}

}  // namespace

void TakeBackAllocatorChoice(const Guard& guard) {
  if (!Traces(format::kTraceMemory) || !cpython::IsFreeThreaded(dlsym(RTLD_DEFAULT, "_PyRuntime")))
    return;
  if (RemoveVariable("PYTHONMALLOC=malloc") && HasOption(Control()->extra, "python.lines=")) {
    Reason(guard, "python-memory",
           "free-threaded Python has an allocator of its own for its objects, so what lines gain "
           "(--lines) is without them: native memory alone");
  }
}

}  // namespace batchlight::inject
