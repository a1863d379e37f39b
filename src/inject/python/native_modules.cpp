// Calls of nn.Module. Nearly all are within another one, of a module that has a name, and have no
// frame of Python's of ours: the wrapper's calls come here (vectorcall.h). What is rare is left to
// its bytecode, which calls here on the way in and on the way out: what a module is called is
// looked up here.
#include <dlfcn.h>

#include <atomic>
#include <string_view>

#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_board.h"
#include "inject/collect/step_detail.h"
#include "inject/python/empty_record.h"
#include "inject/python/native_function.h"
#include "inject/python/vectorcall.h"

namespace batchlight::inject {
namespace {

// Calls of the thread that are open, recorded or not.
__thread uint32_t t_depth;
// Twice how often a thread's profile function was about to change when this thread last looked, and
// one more if it has PyTorch's. Here, where it leaves no gap.
__thread uint32_t t_profile_known;
// Which of the outermost of the open calls pass through: bit 0 is the innermost. Beyond kDeep,
// those pass through that do so when they end.
__thread uint64_t t_passing;
constexpr uint32_t kDeep = 64;  // a model has fewer in each other

// The frame that wraps a module's call is one level more of recursion, and a program that came
// close to its limit would get beyond it: that level is given back for as long as the call lasts.
// Python 3.8 exports no function for it; from 3.12 on these count C's levels alone. 7 ns, for deep
// calls alone.
int (*g_enter_level)(const char*) = nullptr;
void (*g_leave_level)() = nullptr;
bool g_levels_sought = false;

void FindLevels() {
  g_levels_sought = true;
  const int minor = PythonMinorVersion();
  if (minor < 9 || minor > 11) return;
  void* const enter = dlsym(RTLD_DEFAULT, "Py_EnterRecursiveCall");
  void* const leave = dlsym(RTLD_DEFAULT, "Py_LeaveRecursiveCall");
  if (enter == nullptr || leave == nullptr) return;
  g_enter_level = reinterpret_cast<decltype(g_enter_level)>(enter);
  g_leave_level = reinterpret_cast<decltype(g_leave_level)>(leave);
}

__attribute__((noinline, cold)) void GiveLevelBack() {
  if (!g_levels_sought) FindLevels();
  if (g_leave_level != nullptr) g_leave_level();
}

// There is room: the same frame gave it back when the call began.
__attribute__((noinline, cold)) void TakeLevel() {
  if (g_enter_level != nullptr && g_enter_level("") != 0) g_py.PyErr_Clear();
}

bool Passes() { return g_modules_pass.load(std::memory_order_relaxed) != 0; }

void Open(bool passes) {
  if (__builtin_expect(t_depth++ >= kDeep, 0)) {
    GiveLevelBack();
  } else {
    t_passing = t_passing << 1 | (passes ? 1 : 0);
  }
}

// Whether the call was recorded.
bool Close() {
  if (t_depth == 0) return true;  // it began before this thread's memory, in a parent
  if (__builtin_expect(t_depth-- > kDeep, 0)) {
    TakeLevel();
    return !Passes();
  }
  const bool passed = (t_passing & 1) != 0;
  t_passing >>= 1;
  return !passed;
}

// What the dictionary has of id(module). Another thread may take it out meanwhile where there is no
// GIL, and there a reference of one's own can be had.
class EntryOf {
 public:
  EntryOf(PyObject* names, PyObject* module) {
    PyObject* const key = g_py.PyLong_FromVoidPtr(module);
    if (key == nullptr) {
      g_py.PyErr_Clear();
      return;
    }
    if (g_py.PyDict_GetItemRef == nullptr) {
      entry_ = g_py.PyDict_GetItem(names, key);
      if (entry_ != nullptr) g_py.Py_IncRef(entry_);
    } else if (g_py.PyDict_GetItemRef(names, key, &entry_) < 0) {
      g_py.PyErr_Clear();
    }
    g_py.Py_DecRef(key);
  }
  ~EntryOf() {
    if (entry_ != nullptr) g_py.Py_DecRef(entry_);
  }
  EntryOf(const EntryOf&) = delete;
  EntryOf& operator=(const EntryOf&) = delete;

  explicit operator bool() const { return entry_ != nullptr; }
  // Borrowed from the entry.
  PyObject* path() const { return g_py.PyTuple_GetItem(entry_, 0); }
  PyObject* class_name() const { return g_py.PyTuple_GetItem(entry_, 1); }

 private:
  PyObject* entry_ = nullptr;
};

void WriteBegin(PyObject* path_object, PyObject* class_object) {
  if (!Collecting()) return;
  const PyText path(path_object);
  const PyText class_name(class_object);
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr &&
      stream->Ensure(sizeof(format::ModuleBeginRecord) + StringBytes(path.size()) +
                     StringBytes(class_name.size()))) {
    const format::StringRef path_id = stream->Intern(path.data(), path.size());
    const format::StringRef class_id = stream->Intern(class_name.data(), class_name.size());
    stream->Write(format::ModuleBeginRecord{.path = path_id, .class_name = class_id});
  }
}

// Of the call that was opened last: True if it is the outermost one.
PyObject* Record(PyObject* path, PyObject* class_name) {
  if (!Collecting()) return NewNone();
  WriteBegin(path, class_name);
  return t_depth == 1 ? g_py.PyBool_FromLong(1) : NewNone();
}

// `names` is what the function was made with.
PyObject* ModuleEnter(PyObject* names, PyObject* const* arguments, PySsize count) {
  FollowCollecting();
  if (__builtin_expect(Passes(), 0)) {
    if (t_depth == 0) TellDetailWatcher();
    if (Passes()) {
      Open(true);
      return t_depth == 1 ? g_py.PyBool_FromLong(0) : NewNone();
    }
  }
  Open(false);
  const EntryOf entry(names, Argument(arguments, count, 0));
  if (!entry) return g_py.PyLong_FromLongLong(0);
  return Record(entry.path(), entry.class_name());
}

PyMethodDef g_enter = {"module_enter", reinterpret_cast<void*>(ModuleEnter), kMethFastCall,
                       nullptr};

// nn.Module.__call__ as the bridge made it. Its objects are held for ever.
struct Wrapper {
  PyObject* function;
  PyObject* forward;          // what nn.Module.__call__ was
  PyObject* names;            // as of ModuleEnter()
  PyObject* watching;         // lists that are empty once no call is looked at, or
  PyObject* looking;          // no outermost one
  PyObject* is_grad_enabled;  // PyTorch's
  PyObject* getprofile;       // of sys
  PyObject* training;         // the name of a module's attribute
  PyObject* yes;              // True
  VectorCall bytecode, call_forward;
};
Wrapper g_wrapper;

std::atomic<uint32_t> g_profile_changes;  // see t_profile_known

// PyTorch's own profiler (with_stack) knows modules by the frames of nn.Module.__call__. Other
// profile functions see, as alone, no frame of ours.
__attribute__((noinline, cold)) bool HasTracerOfTorch() {
  PyObject* const object = g_py.PyObject_CallFunctionObjArgs(g_wrapper.getprofile, nullptr);
  PyObject* const type = object != nullptr ? g_py.PyObject_Type(object) : nullptr;
  PyObject* const name = type != nullptr ? g_py.PyObject_GetAttrString(type, "__name__") : nullptr;
  bool found = false;
  if (name != nullptr) {
    const PyText text(name);
    found = std::string_view(text.data(), text.size()) == "TraceContext";
  }
  for (PyObject* const held : {name, type, object}) {
    if (held != nullptr) g_py.Py_DecRef(held);
  }
  g_py.PyErr_Clear();
  return found;
}

bool IsTraced() {
  const uint32_t changes = g_profile_changes.load(std::memory_order_relaxed);
  if (__builtin_expect((t_profile_known & ~1u) != changes, 0)) {
    t_profile_known = changes;  // first: what asks may call modules
    t_profile_known = changes | (HasTracerOfTorch() ? 1 : 0);
  }
  return (t_profile_known & 1) != 0;
}

bool IsEmpty(PyObject* list) { return g_py.PyList_Size(list) == 0; }

// Whether the module is in train mode and gradients are on. The bytecode finds out what it is else.
bool Learns(PyObject* module) {
  PyObject* const own = g_py.PyObject_GenericGetDict(module, nullptr);
  PyObject* const grad = g_py.PyObject_CallFunctionObjArgs(g_wrapper.is_grad_enabled, nullptr);
  bool learns = own != nullptr && grad == g_wrapper.yes;
  if (learns) {
    PyObject* const training = g_py.PyDict_GetItem(own, g_wrapper.training);
    learns = training == g_wrapper.yes;
  }
  if (own != nullptr) g_py.Py_DecRef(own);
  if (grad != nullptr) g_py.Py_DecRef(grad);
  if (own == nullptr || grad == nullptr) g_py.PyErr_Clear();
  return learns;
}

// An outermost call for which nothing else is to be done than for those inside of it.
bool IsPlainOutermost(PyObject* module) {
  if (!IsEmpty(g_wrapper.looking)) return false;
  if (Passes()) TellDetailWatcher();
  return (!Collecting() && !g_has_board) || Learns(module);
}

// The call goes on to what it would call without us. No level of recursion is to be given back: it
// has no frame of Python's.
PyObject* CallForward(PyObject* const* arguments, size_t count, PyObject* names) {
  ++t_depth;
  PyObject* const result = g_wrapper.call_forward(g_wrapper.forward, arguments, count, names);
  t_depth -= t_depth > 0;
  return result;
}

bool WriteBeginOf(PyObject* module) {
  const EntryOf entry(g_wrapper.names, module);
  if (!entry) return false;
  WriteBegin(entry.path(), entry.class_name());
  return true;
}

PyObject* CallModule(PyObject* function, PyObject* const* arguments, size_t count,
                     PyObject* names) {
  const auto by_bytecode = [&] { return g_wrapper.bytecode(function, arguments, count, names); };
  if (function != g_wrapper.function || (count & ~kRoomInFront) == 0) return by_bytecode();
  FollowCollecting();
  if (IsTraced() || !IsEmpty(g_wrapper.watching)) return by_bytecode();
  if (t_depth == 0 && !IsPlainOutermost(arguments[0])) return by_bytecode();
  if (Passes()) return CallForward(arguments, count, names);
  if (!WriteBeginOf(arguments[0])) return by_bytecode();
  PyObject* const result = CallForward(arguments, count, names);
  WriteEmpty<format::ModuleEndRecord>();
  return result;
}

}  // namespace

void NoteProfileChange() { g_profile_changes.fetch_add(2, std::memory_order_relaxed); }

PyObject* ModuleEnterBy(PyObject*, PyObject* const* arguments, PySsize count) {
  return g_py.PyCFunction_NewEx(&g_enter, Argument(arguments, count, 0), nullptr);
}

// (wrapper, forward, names, watching, looking, is_grad_enabled, getprofile): True if done.
PyObject* ModuleCallsBy(PyObject*, PyObject* const* arguments, PySsize count) {
  constexpr PySsize kObjects = 7;
  if (count != kObjects) return g_py.PyBool_FromLong(0);
  Wrapper wrapper = {
      .function = arguments[0],
      .forward = arguments[1],
      .names = arguments[2],
      .watching = arguments[3],
      .looking = arguments[4],
      .is_grad_enabled = arguments[5],
      .getprofile = arguments[6],
      .training = g_py.PyUnicode_FromString("training"),
      .yes = g_py.PyBool_FromLong(1),
      .bytecode = CallsOf(arguments[0]),
      .call_forward = CallsOf(arguments[1]),
  };
  if (wrapper.training == nullptr || wrapper.bytecode == nullptr ||
      wrapper.call_forward == nullptr) {
    return g_py.PyBool_FromLong(0);
  }
  for (PySsize i = 0; i < count; ++i) g_py.Py_IncRef(arguments[i]);
  g_wrapper = wrapper;
  if (TakeCalls(wrapper.function, CallModule)) return g_py.PyBool_FromLong(1);
  g_wrapper.function = nullptr;
  return g_py.PyBool_FromLong(0);
}

PyObject* ModuleNamed(PyObject*, PyObject* const* arguments, PySsize count) {
  return Record(Argument(arguments, count, 0), Argument(arguments, count, 1));
}

PyObject* ModuleLeave(PyObject*, PyObject* const*, PySsize) {
  if (Close()) WriteEmpty<format::ModuleEndRecord>();
  return NewNone();
}

}  // namespace batchlight::inject
