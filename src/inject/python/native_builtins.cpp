// For the bridge: calls of functions of C (--python-trace=builtins), told apart by their
// PyMethodDef, as cProfile does: a bound method is a new object each time.
#include <dlfcn.h>

#include "inject/python/call_recorder.h"
#include "inject/python/native_function.h"
#include "inject/python/object_layout.h"

namespace batchlight::inject {
namespace {

// All other callables (types, objects with __call__, functions of Cython) are no functions of C to
// cProfile either.
const void* g_function_type = nullptr;
const void* g_method_type = nullptr;      // of functions that know their class; since 3.9
const void* g_descriptor_type = nullptr;  // list.append, when it is called with its object

// PyMethodDescrObject: the head, its class, name and qualified name, the PyMethodDef.
constexpr size_t kDescriptorsMethod = 3 * sizeof(void*);

}  // namespace

void FindBuiltinTypes() {
  g_function_type = dlsym(RTLD_DEFAULT, "PyCFunction_Type");
  g_method_type = dlsym(RTLD_DEFAULT, "PyCMethod_Type");
  g_descriptor_type = dlsym(RTLD_DEFAULT, "PyMethodDescr_Type");
}

const void* MethodOf(const PyObject* callable) {
  if (g_type_at == 0 || g_function_type == nullptr) return nullptr;
  const void* type = TypeOf(callable);
  if (type == g_function_type || (type == g_method_type && type != nullptr)) {
    return PointerAt(callable, HeadBytes());
  }
  if (type == g_descriptor_type && type != nullptr) {
    return PointerAt(callable, HeadBytes() + kDescriptorsMethod);
  }
  return nullptr;
}

// CALL of sys.monitoring: (code, instruction, callable, first argument).
PyObject* CallBuiltin(PyObject*, PyObject* const* arguments, PySsize count) {
  const void* method = count >= 3 ? MethodOf(arguments[2]) : nullptr;
  if (method != nullptr) EnterBuiltin(method, arguments[2]);
  return NewNone();
}

// C_RETURN and C_RAISE.
PyObject* ReturnBuiltin(PyObject*, PyObject* const* arguments, PySsize count) {
  const void* method = count >= 3 ? MethodOf(arguments[2]) : nullptr;
  if (method != nullptr) LeaveBuiltin(method);
  return NewNone();
}

}  // namespace batchlight::inject
