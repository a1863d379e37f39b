#include "inject/python/vectorcall.h"

#include <dlfcn.h>

#include <atomic>

namespace batchlight::inject {
namespace {

// sizeof an object of this one's type; 0: not known.
size_t SizeOf(PyObject* object) {
  PyObject* const type = g_py.PyObject_Type(object);
  PyObject* const size =
      type != nullptr ? g_py.PyObject_GetAttrString(type, "__basicsize__") : nullptr;
  const size_t bytes = size != nullptr ? AsNumber(size) : 0;
  if (size != nullptr) g_py.Py_DecRef(size);
  if (type != nullptr) g_py.Py_DecRef(type);
  g_py.PyErr_Clear();
  return bytes;
}

// Before Python 3.12 nothing sets the pointer: the one word of the object that has its value.
std::atomic<VectorCall>* PointerIn(PyObject* function, VectorCall value) {
  constexpr size_t kMostBytes = 512;
  const size_t bytes = SizeOf(function);
  if (bytes > kMostBytes) return nullptr;
  std::atomic<VectorCall>* found = nullptr;
  for (size_t at = 0; at + sizeof value <= bytes; at += sizeof value) {
    auto* word = reinterpret_cast<std::atomic<VectorCall>*>(reinterpret_cast<char*>(function) + at);
    if (word->load(std::memory_order_relaxed) != value) continue;
    if (found != nullptr) return nullptr;
    found = word;
  }
  return found;
}

}  // namespace

VectorCall CallsOf(PyObject* function) {
  if (const auto of_callable = reinterpret_cast<VectorCall (*)(PyObject*)>(
          dlsym(RTLD_DEFAULT, "PyVectorcall_Function"))) {  // 3.11 and later
    return of_callable(function);
  }
  return reinterpret_cast<VectorCall>(dlsym(RTLD_DEFAULT, "_PyFunction_Vectorcall"));
}

bool TakeCalls(PyObject* function, VectorCall ours) {
  const VectorCall before = CallsOf(function);
  if (before == nullptr) return false;
  if (const auto set = reinterpret_cast<void (*)(PyObject*, VectorCall)>(
          dlsym(RTLD_DEFAULT, "PyFunction_SetVectorcall"))) {
    set(function, ours);
    return true;
  }
  if (PythonMinorVersion() > 11) return false;
  std::atomic<VectorCall>* const pointer = PointerIn(function, before);
  if (pointer == nullptr) return false;
  pointer->store(ours, std::memory_order_release);
  return true;
}

}  // namespace batchlight::inject
