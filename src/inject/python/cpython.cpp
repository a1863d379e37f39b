#include "inject/python/cpython.h"

#include <dlfcn.h>

#include <cstring>

namespace batchlight::inject {

CPython g_py;

const char* LoadCPython() {
  const char* missing = nullptr;
  const auto find = [&missing](const char* name) {
    void* symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol == nullptr && missing == nullptr) missing = name;
    return symbol;
  };
#define FUNCTION(result, name, arguments) \
  g_py.name = reinterpret_cast<decltype(g_py.name)>(find(#name));
#define OPTIONAL(result, name, arguments) \
  g_py.name = reinterpret_cast<decltype(g_py.name)>(dlsym(RTLD_DEFAULT, #name));
#define OBJECT(name) g_py.name = static_cast<PyObject*>(find(#name));
#include "inject/python/cpython_symbols.def"
#undef FUNCTION
#undef OPTIONAL
#undef OBJECT
  return missing;
}

int PythonMinorVersion() {
  const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
  const char* text = version != nullptr ? version() : "";
  if (std::strncmp(text, "3.", 2) != 0) return -1;
  int minor = 0;
  for (text += 2; *text >= '0' && *text <= '9'; ++text) minor = minor * 10 + (*text - '0');
  return minor;
}

uint64_t AsNumber(PyObject* object) {
  return IsInteger(object) ? g_py.PyLong_AsUnsignedLongLongMask(object) : 0;
}

PyText::PyText(PyObject* object) {
  if (IsNone(object)) return;
  PySsize bytes = 0;
  const char* text = g_py.PyUnicode_AsUTF8AndSize(object, &bytes);
  if (__builtin_expect(text != nullptr, 1)) {
    data_ = text;
    size_ = static_cast<size_t>(bytes);
    return;
  }
  g_py.PyErr_Clear();
  Convert(object);
}

void PyText::Convert(PyObject* object) {
  PyObject* text = g_py.PyObject_Str(object);
  if (text != nullptr) {
    owned_ = g_py.PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
    g_py.Py_DecRef(text);
  }
  char* data = nullptr;
  PySsize bytes = 0;
  if (owned_ == nullptr || g_py.PyBytes_AsStringAndSize(owned_, &data, &bytes) != 0) {
    g_py.PyErr_Clear();
    return;
  }
  data_ = data;
  size_ = static_cast<size_t>(bytes);
}

}  // namespace batchlight::inject
