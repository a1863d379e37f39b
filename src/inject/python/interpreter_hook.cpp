#include "inject/python/interpreter_hook.h"

#include <dlfcn.h>

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/python/audit_entry.h"
#include "inject/python/cpython.h"
#include "inject/python/native_module.h"
#include "inject/rt/control.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

bool g_started = false;  // written with the GIL held

// Runs batchlight._bridge.install(). The package is loaded from the tool's own folder, so that it
// matches this library; the program finds that folder last. Of a wheel, pip removes the bytecode of
// the Python that it installed into and no other's, so others write none there.
constexpr char kStartBridge[] =
    "import posix, sys\n"
    "before = sys.dont_write_bytecode\n"
    "try:\n"
    "    posix.stat(path + '/../from_wheel')\n"
    "    foreign = not path.startswith(sys.prefix + '/')\n"
    "except OSError:\n"
    "    foreign = False\n"
    "sys.dont_write_bytecode = before or foreign\n"
    "sys.path.insert(0, path)\n"
    "try:\n"
    "    try:\n"
    "        import batchlight._bridge as bridge\n"
    "    finally:\n"
    "        sys.path.remove(path)\n"
    "    sys.path.append(path)\n"
    "    bridge.install(foreign)\n"
    "finally:\n"
    "    sys.dont_write_bytecode = before\n";

void SayOff(const char* text) {
  Guard guard;
  if (guard) Reason(guard, "python", text);
}

// Clears the pending exception and notes it in the recording.
void SwallowError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  g_py.PyErr_Fetch(&type, &value, &traceback);
  char buffer[1024];
  Text text(buffer, sizeof buffer);
  text.Add("the Python bridge did not start");
  if (value != nullptr) {
    PyText what(value);
    text.Add(": ").Add(what.data(), what.size());
  }
  SayOff(buffer);
  for (PyObject* object : {type, value, traceback}) {
    if (object != nullptr) g_py.Py_DecRef(object);
  }
}

bool RunBridge(PyObject* globals) {
  PyObject* code = g_py.Py_CompileString(kStartBridge, "<batchlight>", kPyFileInput);
  if (code == nullptr) return false;
  PyObject* result = g_py.PyEval_EvalCode(code, globals, globals);
  g_py.Py_DecRef(code);
  if (result == nullptr) return false;
  g_py.Py_DecRef(result);
  return true;
}

void StartBridge() {
  if (const char* missing = LoadCPython()) {
    char buffer[256];
    Text(buffer, sizeof buffer).Add("this Python has no ").Add(missing);
    SayOff(buffer);
    return;
  }
  PyObject* globals = g_py.PyDict_New();
  PyObject* path = g_py.PyUnicode_DecodeFSDefault(Control()->python_path);
  PyObject* builtins = g_py.PyImport_AddModule("builtins");  // borrowed
  const bool done = globals != nullptr && path != nullptr && builtins != nullptr &&
                    g_py.PyDict_SetItemString(globals, "__builtins__", builtins) == 0 &&
                    g_py.PyDict_SetItemString(globals, "path", path) == 0 && AddNativeModule() &&
                    RunBridge(globals);
  if (!done) SwallowError();
  if (path != nullptr) g_py.Py_DecRef(path);
  if (globals != nullptr) g_py.Py_DecRef(globals);
}

// cpython.run_command, _file, _module, _stdin, _startup, _interactivehook: whichever comes first.
int OnAuditEvent(const char* event, PyObject*, void*) {
  if (event[0] != 'c' || std::strncmp(event, "cpython.", 8) != 0) return 0;
  if (std::strcmp(event, kClearAuditHooks) == 0) BeforeAuditHooksAreFreed();
  if (g_started || std::strncmp(event, "cpython.run_", 12) != 0) return 0;
  g_started = true;
  StartBridge();
  return 0;
}

}  // namespace

void InstallInterpreterHook(const Guard& guard) {
  if (!Traces(format::kTracePython) || Control()->python_path[0] == 0) return;
  if (dlsym == nullptr) return;  // an old glibc without libdl: no Python either
  using AddHook = int (*)(AuditHook, void*);
  const auto add = reinterpret_cast<AddHook>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add != nullptr) {
    if (AddAuditHook(add, OnAuditEvent) != 0)
      Reason(guard, "python", "the interpreter refused the hook");
  } else if (dlsym(RTLD_DEFAULT, "pypy_main_startup") != nullptr) {
    Reason(guard, "python", "PyPy is not supported: only its NVTX ranges are recorded");
  } else if (dlsym(RTLD_DEFAULT, "Py_Initialize") != nullptr) {
    Reason(guard, "python", "CPython before 3.8 is not supported: only NVTX ranges are recorded");
  }
}

}  // namespace batchlight::inject
