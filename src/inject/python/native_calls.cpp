// For the bridge: the callbacks that it gives to sys.monitoring and, before Python 3.12, the hooks
// of PyEval_SetProfile and PyEval_SetTrace.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/python/call_recorder.h"
#include "inject/python/native_function.h"
#include "inject/python/object_layout.h"
#include "inject/rt/control.h"

namespace batchlight::inject {
namespace {

CallOptions g_options;
// Python's, held for ever. Other threads may use them while they change.
std::atomic<PyObject*> g_lines_of{nullptr};
std::atomic<PyObject*> g_builtin_name{nullptr};
std::atomic<PyObject*> g_disable{nullptr};       // sys.monitoring.DISABLE
PyObject* (*g_frame_code)(PyObject*) = nullptr;  // PyFrame_GetCode; 3.8 has none

// A program may call these functions with anything.
const void* g_code_type = nullptr;
const void* g_frame_type = nullptr;

void FindTypes() {
  const void* type = dlsym(RTLD_DEFAULT, "PyType_Type");
  const void* code = dlsym(RTLD_DEFAULT, "PyCode_Type");
  if (type == nullptr || code == nullptr) return;
  FindObjectLayout(code, type);
  if (g_type_at == 0) return;
  g_code_type = code;
  g_frame_type = dlsym(RTLD_DEFAULT, "PyFrame_Type");
  FindBuiltinTypes();
}

bool IsOf(const void* type, PyObject* const* arguments, PySsize count) {
  return count >= 1 && type != nullptr && TypeOf(arguments[0]) == type;
}

bool IsCode(PyObject* const* arguments, PySsize count) {
  return __builtin_expect(IsOf(g_code_type, arguments, count), 1);
}

PyObject* Disabled(bool is_disabled) {
  // None is immortal in every Python that has sys.monitoring.
  PyObject* const disable = g_disable.load(std::memory_order_relaxed);
  if (__builtin_expect(!is_disabled || disable == nullptr, 1)) return g_py._Py_NoneStruct;
  g_py.Py_IncRef(disable);
  return disable;
}

uint32_t AskLines(PyObject* code) {
  PyObject* const lines_of = g_lines_of.load(std::memory_order_relaxed);
  if (lines_of == nullptr) return 0;
  PyObject* answer = g_py.PyObject_CallFunctionObjArgs(lines_of, code, nullptr);
  if (answer == nullptr) {
    g_py.PyErr_Clear();
    return 0;
  }
  const auto lines = static_cast<uint32_t>(AsNumber(answer));
  g_py.Py_DecRef(answer);
  constexpr uint32_t kMostLines = 1u << 20;
  return lines < kMostLines ? lines : 0;
}

PyObject* AskBuiltinName(PyObject* callable) {
  PyObject* const name_of = g_builtin_name.load(std::memory_order_relaxed);
  if (name_of == nullptr) return nullptr;
  PyObject* name = g_py.PyObject_CallFunctionObjArgs(name_of, callable, nullptr);
  if (name == nullptr) {
    g_py.PyErr_Clear();
    return nullptr;
  }
  if (!IsNone(name)) return name;
  g_py.Py_DecRef(name);
  return nullptr;
}

// --- before Python 3.12 -------------------------------------------------------------------------

// Python 3.8 has no function for it. Its frames have the code where this says, which the first
// frame must confirm; asking for the attribute costs more than all the rest.
constexpr size_t kCodeOffset38 = 32;
enum class CodePlace { kUnknown, kConfirmed, kElsewhere };
CodePlace g_code_place = CodePlace::kUnknown;

// A new reference, or nullptr.
PyObject* CodeOf(PyObject* frame) {
  if (g_frame_code != nullptr) return g_frame_code(frame);
  PyObject* code = nullptr;
  if (g_code_place != CodePlace::kElsewhere) {
    std::memcpy(&code, reinterpret_cast<const char*>(frame) + kCodeOffset38, sizeof code);
    if (g_code_place == CodePlace::kConfirmed) {
      g_py.Py_IncRef(code);
      return code;
    }
  }
  PyObject* attribute = g_py.PyObject_GetAttrString(frame, "f_code");
  if (attribute == nullptr) g_py.PyErr_Clear();
  g_code_place = attribute == code ? CodePlace::kConfirmed : CodePlace::kElsewhere;
  return attribute;
}

int LastInstruction(PyObject* frame) {
  PyObject* value = g_py.PyObject_GetAttrString(frame, "f_lasti");
  if (value == nullptr) {
    g_py.PyErr_Clear();
    return -1;
  }
  int overflow = 0;
  const auto at = static_cast<int>(g_py.PyLong_AsLongLongAndOverflow(value, &overflow));
  g_py.Py_DecRef(value);
  return at;
}

// Those of a frame that nobody wants are not traced.
void TraceLines(PyObject* frame, bool on) {
  PyObject* value = g_py.PyBool_FromLong(on ? 1 : 0);
  if (g_py.PyObject_SetAttrString(frame, "f_trace_lines", value) != 0) g_py.PyErr_Clear();
  g_py.Py_DecRef(value);
}

// For a trace function of the program's, which may ask for lines of what runs already.
void TraceLinesOfThread() {
  PyObject* frame = g_py.PyEval_GetFrame();
  if (frame != nullptr) g_py.Py_IncRef(frame);
  while (frame != nullptr && !IsNone(frame)) {
    TraceLines(frame, true);
    PyObject* const caller = g_py.PyObject_GetAttrString(frame, "f_back");
    if (caller == nullptr) g_py.PyErr_Clear();
    g_py.Py_DecRef(frame);
    frame = caller;
  }
  if (frame != nullptr) g_py.Py_DecRef(frame);
}

void OnBuiltin(int what, PyObject* callable) {
  if (g_options.builtin_name == nullptr || callable == nullptr) return;
  const void* method = MethodOf(callable);
  if (method == nullptr) return;
  what == kPyTraceCCall ? EnterBuiltin(method, callable) : LeaveBuiltin(method);
}

int OnProfile(PyObject*, PyObject* frame, int what, PyObject* argument) {
  if (what >= kPyTraceCCall && what <= kPyTraceCReturn) OnBuiltin(what, argument);
  if (what != kPyTraceCall && what != kPyTraceReturn) return 0;
  PyObject* code = CodeOf(frame);
  if (code == nullptr) return 0;
  if (what == kPyTraceCall) {
    EnterFrame(code, frame, LastInstruction);
  } else {
    LeaveCall(code);
  }
  g_py.Py_DecRef(code);
  return 0;
}

// Lines; calls too, if these are all that is traced.
int OnTrace(PyObject*, PyObject* frame, int what, PyObject*) {
  if (what != kPyTraceCall && what != kPyTraceReturn && what != kPyTraceLine) return 0;
  if (what == kPyTraceReturn && g_options.calls) return 0;
  PyObject* code = CodeOf(frame);
  if (code == nullptr) return 0;
  if (what == kPyTraceLine) {
    BeginLine(code, static_cast<uint32_t>(g_py.PyFrame_GetLineNumber(frame)));
  } else if (what == kPyTraceReturn) {
    LeaveCall(code);
  } else {
    if (!g_options.calls) EnterFrame(code, frame, LastInstruction);
    if (!WantsLines(code)) TraceLines(frame, false);
  }
  g_py.Py_DecRef(code);
  return 0;
}

__thread bool t_watched;  // the hooks of this thread are ours
__thread bool t_setting;  // right now it is us who set them

void SetHooks(bool on) {
  t_setting = true;
  if (g_options.calls) g_py.PyEval_SetProfile(on ? OnProfile : nullptr, nullptr);
  if (g_lines_of != nullptr) g_py.PyEval_SetTrace(on ? OnTrace : nullptr, nullptr);
  t_setting = false;
  t_watched = on;
}

}  // namespace

void BeforeHookIsSet(const char* event) {
  const bool profile = std::strcmp(event, "sys.setprofile") == 0;
  if (profile) NoteProfileChange();
  if (t_setting || !t_watched) return;
  if (profile ? !g_options.calls : g_lines_of == nullptr) return;
  t_watched = false;
  if (!profile) TraceLinesOfThread();
  LoseCalls();
  Guard guard;
  if (!guard) return;
  Reason(guard, "python-trace",
         profile
             ? "the program set a profile function of its own (cProfile, a debugger): from there "
               "on no functions of that thread were counted; from Python 3.12 on both work"
             : "the program set a trace function of its own (coverage, a debugger): from there on "
               "no lines of that thread were counted; from Python 3.12 on both work");
}

// CallsOptions(calls, thin, lines_of, DISABLE, builtin_name)
PyObject* CallsOptions(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count < 5) return NewNone();
  for (PyObject* object : {arguments[2], arguments[3], arguments[4]}) g_py.Py_IncRef(object);
  g_options.calls = AsNumber(arguments[0]) != 0;
  g_options.thin_calls = static_cast<uint32_t>(AsNumber(arguments[1]));
  g_lines_of = IsNone(arguments[2]) ? nullptr : arguments[2];
  g_options.lines_of = g_lines_of != nullptr ? AskLines : nullptr;
  g_disable = IsNone(arguments[3]) ? nullptr : arguments[3];
  g_builtin_name = IsNone(arguments[4]) ? nullptr : arguments[4];
  g_options.builtin_name = g_builtin_name != nullptr ? AskBuiltinName : nullptr;
  FindTypes();
  g_frame_code = reinterpret_cast<decltype(g_frame_code)>(dlsym(RTLD_DEFAULT, "PyFrame_GetCode"));
  SetCallOptions(g_options);
  return NewNone();
}

PyObject* CallStart(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!IsCode(arguments, count)) return NewNone();
  return Disabled(EnterCall(arguments[0], false));
}

PyObject* CallResume(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!IsCode(arguments, count)) return NewNone();
  return Disabled(EnterCall(arguments[0], true));
}

// Throwing and unwinding cannot be disabled.
PyObject* CallThrow(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!IsCode(arguments, count)) return NewNone();
  EnterCall(arguments[0], true);
  return Disabled(false);
}

PyObject* CallReturn(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!IsCode(arguments, count)) return NewNone();
  return Disabled(LeaveCall(arguments[0]));
}

PyObject* CallUnwind(PyObject*, PyObject* const* arguments, PySsize count) {
  if (!IsCode(arguments, count)) return NewNone();
  LeaveCall(arguments[0]);
  return Disabled(false);
}

PyObject* CallLine(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count < 2 || !IsCode(arguments, count)) return NewNone();
  // Of an object that is an integer and no more, its number comes without a look at its classes.
  const uint64_t line = TypeOf(arguments[1]) == g_py.PyLong_Type
                            ? g_py.PyLong_AsUnsignedLongLongMask(arguments[1])
                            : AsNumber(arguments[1]);
  return Disabled(BeginLine(arguments[0], static_cast<uint32_t>(line)));
}

PyObject* WatchThread(PyObject*, PyObject* const*, PySsize) {
  SetHooks(true);
  return NewNone();
}

// The first event of a new thread, which Python hands to a function of Python: the rest come to the
// hooks themselves.
PyObject* WatchNewThread(PyObject*, PyObject* const* arguments, PySsize count) {
  SetHooks(true);
  if (!IsOf(g_frame_type, arguments, count)) return NewNone();
  if (PyObject* code = CodeOf(arguments[0])) {
    EnterFrame(code, arguments[0], LastInstruction);
    g_py.Py_DecRef(code);
  }
  return NewNone();
}

PyObject* UnwatchThread(PyObject*, PyObject* const*, PySsize) {
  if (t_watched) {
    SetHooks(false);
    if (g_lines_of != nullptr) TraceLinesOfThread();
  }
  LoseCalls();
  return NewNone();
}

PyObject* SaySource(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count < 4) return NewNone();
  const PyText file(arguments[0]);
  const PyText name(arguments[1]);
  const PyText text(arguments[3]);
  const format::PythonSourceRecord record{.first_line =
                                              static_cast<uint32_t>(AsNumber(arguments[2]))};
  Guard guard;
  if (guard && Control() != nullptr) {
    AddFact(guard, record,
            {{offsetof(format::PythonSourceRecord, file), file.data(), file.size()},
             {offsetof(format::PythonSourceRecord, name), name.data(), name.size()},
             {offsetof(format::PythonSourceRecord, text), text.data(), text.size()}});
  }
  return NewNone();
}

}  // namespace batchlight::inject
