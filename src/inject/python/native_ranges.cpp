#include "inject/buffer/facts.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"
namespace batchlight::inject {
PyObject* Push(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* PushPlain(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* Pop(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* Start(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* StartPlain(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* End(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* Mark(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* MarkPlain(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* NameCategory(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* ProfileStart(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
PyObject* ProfileStop(PyObject*, PyObject* const*, PySsize) { return NewNone(); }
}  // namespace batchlight::inject
