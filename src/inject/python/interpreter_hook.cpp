#include "inject/python/interpreter_hook.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/python/allocator_choice.h"
#include "inject/python/audit_entry.h"
#include "inject/python/cpython.h"
#include "inject/python/native_function.h"
#include "inject/python/native_module.h"
#include "inject/rt/control.h"
#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

bool g_started = false;  // written with the GIL held
bool g_installed = false;

// Of a program that embeds Python.
int (*g_is_initialized)() = nullptr;
void* (*g_current_frame)() = nullptr;
void* (*g_main_interpreter)() = nullptr;
void* (*g_current_interpreter)() = nullptr;

// Runs _start.py of the package, which lies in the tool's own folder, so that it matches
// this library. Not as a module, which another loader than ours would have to load.
constexpr char kStartBridge[] =
    "import sys\n"
    "file = path + '/batchlight/_start.py'\n"
    "load = sys.modules['_frozen_importlib_external'].SourceFileLoader('', file).get_data\n"
    "exec(compile(load(file), '<batchlight>', 'exec'))\n";

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

// The first argument of an audit event, as text.
bool FirstArgumentIs(PyObject* arguments, const char* text) {
  const auto item =
      reinterpret_cast<PyObject* (*)(PyObject*, PySsize)>(dlsym(RTLD_DEFAULT, "PyTuple_GetItem"));
  PyObject* first = item != nullptr ? item(arguments, 0) : nullptr;
  const auto as_text = reinterpret_cast<const char* (*)(PyObject*, PySsize*)>(
      dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8AndSize"));
  const char* name = first != nullptr && as_text != nullptr ? as_text(first, nullptr) : nullptr;
  return name != nullptr && std::strcmp(name, text) == 0;
}

// A program that embeds Python (Py_Initialize) never says cpython.run_*. What it runs first, or
// imports, comes from no Python code: unlike all that the interpreter imports to get started, but
// for `site`, the last of these.
bool RunsFromOutside(const char* event, PyObject* arguments) {
  const bool imports = std::strcmp(event, "import") == 0;
  if (!imports && std::strcmp(event, "exec") != 0) return false;
  if (g_is_initialized == nullptr || g_is_initialized() == 0) return false;
  if (g_current_interpreter() != g_main_interpreter() || g_current_frame() != nullptr) return false;
  return !imports || !FirstArgumentIs(arguments, "site");
}

void OnSysEvent(const char* event) {
  if (std::strcmp(event, "sys.setprofile") == 0 || std::strcmp(event, "sys.settrace") == 0) {
    BeforeHookIsSet(event);
  }
}

// cpython.run_command, _file, _module, _stdin, _startup, _interactivehook: whichever comes first.
int OnAuditEvent(const char* event, PyObject* arguments, void*) {
  const bool own = event[0] == 'c' && std::strncmp(event, "cpython.", 8) == 0;
  if (own && std::strcmp(event, kClearAuditHooks) == 0) BeforeAuditHooksAreFreed();
  if (g_started) {
    if (event[0] == 's' && std::strncmp(event, "sys.set", 7) == 0) OnSysEvent(event);
    return 0;
  }
  if (own ? std::strncmp(event, "cpython.run_", 12) != 0 : !RunsFromOutside(event, arguments)) {
    return 0;
  }
  g_started = true;
  StartBridge();
  return 0;
}

template <class F>
bool Find(const char* name, F** function) {
  *function = reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

void PrepareForEmbedding() {
  const bool found = Find("PyEval_GetFrame", &g_current_frame) &&
                     Find("PyInterpreterState_Main", &g_main_interpreter) &&
                     (Find("PyInterpreterState_Get", &g_current_interpreter) ||
                      Find("_PyInterpreterState_Get", &g_current_interpreter)) &&  // of 3.8
                     Find("Py_IsInitialized", &g_is_initialized);
  if (!found) g_is_initialized = nullptr;
}

int IsPythonLibrary(dl_phdr_info* info, size_t, void*) {
  return info->dlpi_name != nullptr && std::strstr(info->dlpi_name, "/libpython3") != nullptr;
}

}  // namespace

void InstallInterpreterHook(const Guard& guard) {
  if (!Traces(format::kTracePython) || Control()->python_path[0] == 0) return;
  if (dlsym == nullptr) return;  // an old glibc without libdl: no Python either
  using AddHook = int (*)(AuditHook, void*);
  const auto add = reinterpret_cast<AddHook>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add != nullptr) {
    TakeBackAllocatorChoice(guard);
    PrepareForEmbedding();
    g_installed = true;
    if (AddAuditHook(add, OnAuditEvent) != 0)
      Reason(guard, "python", "the interpreter refused the hook");
  } else if (dlsym(RTLD_DEFAULT, "pypy_main_startup") != nullptr) {
    Reason(guard, "python", "PyPy is not supported: only its NVTX ranges are recorded");
  } else if (dlsym(RTLD_DEFAULT, "Py_Initialize") != nullptr) {
    Reason(guard, "python", "CPython before 3.8 is not supported: only NVTX ranges are recorded");
  }
}

void SayIfPythonCameLate(const Guard& guard) {
  if (g_installed || !Traces(format::kTracePython) || Control()->python_path[0] == 0) return;
  if (dl_iterate_phdr(IsPythonLibrary, nullptr) == 0) return;
  Reason(guard, "python",
         "the program loaded Python while it ran (dlopen): only NVTX ranges and GPU work are "
         "recorded of it; link the program with libpython, or start it with LD_PRELOAD=libpython3");
}

}  // namespace batchlight::inject
