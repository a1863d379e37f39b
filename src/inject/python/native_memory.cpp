// Tells what Python's objects ask for apart from the rest of the program's memory.
#include <dlfcn.h>

#include "inject/buffer/facts.h"
#include "inject/memory/memory_recorder.h"
#include "inject/python/native_function.h"

namespace batchlight::inject {
namespace {

// nullptr, or why not.
const char* Watch() {
  const memory::MemoryShims* shims = memory::Shims();
  if (shims == nullptr) {
    return "libbatchlight_memory.so is not in the program: something took it out of LD_PRELOAD";
  }
  const auto get =
      reinterpret_cast<memory::GetPythonAllocator*>(dlsym(RTLD_DEFAULT, "PyMem_GetAllocator"));
  const auto set =
      reinterpret_cast<memory::SetPythonAllocator*>(dlsym(RTLD_DEFAULT, "PyMem_SetAllocator"));
  if (get == nullptr || set == nullptr) {
    return "this Python does not export its allocators: its objects' memory is not recorded";
  }
  shims->watch_python(get, set);
  return nullptr;
}

}  // namespace

PyObject* WatchMemory(PyObject*, PyObject* const*, PySsize) {
  if (memory::Api() == nullptr) return NewNone();
  const char* why = Watch();
  Guard guard;
  if (guard && why != nullptr) Reason(guard, "python-memory", why);
  return NewNone();
}

}  // namespace batchlight::inject
