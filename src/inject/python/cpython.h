// The few functions of CPython that the library calls, found with dlsym in whatever Python runs
// this process: one binary for every CPython from 3.8 on, static or shared, without a header or a
// struct of any version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject {

struct PyObject;  // never looked into
using PySsize = ptrdiff_t;

// As CPython lays it out; part of its stable ABI.
struct PyMethodDef {
  const char* name;
  void* function;
  int flags;
  const char* doc;
};
inline constexpr int kMethFastCall = 0x0080;  // PyObject* (PyObject*, PyObject* const*, PySsize)
inline constexpr int kPyFileInput = 257;      // a whole file of code, for Py_CompileString

// Py_tracefunc and its `what`.
using PyTraceFunction = int (*)(PyObject* object, PyObject* frame, int what, PyObject* argument);
inline constexpr int kPyTraceCall = 0, kPyTraceLine = 2, kPyTraceReturn = 3;
inline constexpr int kPyTraceCCall = 4, kPyTraceCException = 5, kPyTraceCReturn = 6;

struct CPython {
#define FUNCTION(result, name, arguments) result(*name) arguments;
#define OPTIONAL(result, name, arguments) result(*name) arguments;  // nullptr: has none
#define OBJECT(name) PyObject* name;
#include "inject/python/cpython_symbols.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
};

// Usable after LoadCPython() only, with the GIL held.
extern CPython g_py;

// nullptr, or the name of the symbol that this Python lacks.
const char* LoadCPython();

// 11 of "3.11.7 (main, ...)"; -1: not Python 3.
int PythonMinorVersion();

// A string of Python as UTF-8, for as long as this lives. Lone surrogates become \udcXX; None is
// empty; other objects are converted by str(), which may run code of the program, so not within a
// Guard.
class PyText {
 public:
  explicit PyText(PyObject* object);
  ~PyText() {
    if (owned_ != nullptr) g_py.Py_DecRef(owned_);
  }
  PyText(const PyText&) = delete;
  PyText& operator=(const PyText&) = delete;

  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void Convert(PyObject* object);

  const char* data_ = "";
  size_t size_ = 0;
  PyObject* owned_ = nullptr;
};

inline bool IsNone(const PyObject* object) { return object == g_py._Py_NoneStruct; }
inline bool IsInteger(PyObject* object) {
  return g_py.PyObject_IsInstance(object, g_py.PyLong_Type) == 1;
}
// The low 64 bits of an integer; 0 for anything else.
uint64_t AsNumber(PyObject* object);

inline PyObject* NewNone() {
  g_py.Py_IncRef(g_py._Py_NoneStruct);
  return g_py._Py_NoneStruct;
}

}  // namespace batchlight::inject
