// nn.Module calls, phases of the training loop, names of threads.
#include <dlfcn.h>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/loop_follower.h"
#include "inject/nvtx/levels.h"
#include "inject/nvtx/operator_range.h"
#include "inject/python/import_libraries.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

constexpr uint32_t kNamedByPython = 2;  // ThreadNameRecord::source
constexpr auto kImport = static_cast<uint32_t>(format::Phase::kImport);
__thread uint32_t t_module_depth;  // open module calls, recorded or not

// The frame that wraps a module's call is one level more of recursion, and a program that came
// close to its limit would get beyond it: that level is given back for as long as the call lasts.
// Python 3.8 exports no function for it; from 3.12 on these count C's levels alone.
int (*g_enter_level)(const char*) = nullptr;
void (*g_leave_level)() = nullptr;
bool g_levels_sought = false;
constexpr uint32_t kDeep = 64;  // a model has fewer in each other: 7 ns are for these calls alone

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

// There is room: ModuleEnd is called from the same frame as the ModuleBegin that gave it back.
__attribute__((noinline, cold)) void TakeLevel() {
  if (g_enter_level != nullptr && g_enter_level("") != 0) g_py.PyErr_Clear();
}

// A record without fields. Written only while collecting: a capture that starts or stops inside a
// call has an end without its begin, or a begin without its end.
template <class R>
PyObject* WriteEmpty() {
  if (Collecting()) {
    Guard guard;
    ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
    if (stream != nullptr && stream->Ensure(sizeof(R))) stream->Write(R{});
  }
  return NewNone();
}

// An item of a dictionary, which another thread may take out meanwhile where there is no GIL.
class ItemOf {
 public:
  ItemOf(PyObject* dict, const char* key) {
    if (g_py.PyDict_GetItemStringRef == nullptr) {
      item_ = g_py.PyDict_GetItemString(dict, key);
      if (item_ != nullptr) g_py.Py_IncRef(item_);
    } else if (g_py.PyDict_GetItemStringRef(dict, key, &item_) < 0) {
      g_py.PyErr_Clear();
    }
  }
  ~ItemOf() {
    if (item_ != nullptr) g_py.Py_DecRef(item_);
  }
  ItemOf(const ItemOf&) = delete;
  ItemOf& operator=(const ItemOf&) = delete;

  PyObject* get() const { return item_; }

 private:
  PyObject* item_ = nullptr;
};

}  // namespace

PyObject* ModuleBegin(PyObject*, PyObject* const* arguments, PySsize count) {
  FollowCollecting();
  const uint32_t depth = t_module_depth++;
  const bool outermost = depth == 0;
  if (__builtin_expect(depth >= kDeep, 0)) GiveLevelBack();
  if (count < 2 || !Collecting()) return NewNone();
  const PyText path(arguments[0]);
  const PyText class_name(arguments[1]);
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr &&
      stream->Ensure(sizeof(format::ModuleBeginRecord) + StringBytes(path.size()) +
                     StringBytes(class_name.size()))) {
    const format::StringRef path_id = stream->Intern(path.data(), path.size());
    const format::StringRef class_id = stream->Intern(class_name.data(), class_name.size());
    stream->Write(format::ModuleBeginRecord{.path = path_id, .class_name = class_id});
  }
  return outermost ? g_py.PyBool_FromLong(1) : NewNone();
}

PyObject* ModuleEnd(PyObject*, PyObject* const*, PySsize) {
  if (t_module_depth > 0) {
    if (__builtin_expect(t_module_depth-- > kDeep, 0)) TakeLevel();
  }
  return WriteEmpty<format::ModuleEndRecord>();
}

PyObject* PhaseBegin(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count < 2) return NewNone();
  const auto phase = static_cast<uint32_t>(AsNumber(arguments[0]));
  FollowCollecting();  // a window may have begun in another process
  TellDetailWatcher();
  if (phase == kImport) TellLibraries();  // of the import around this one
  const PyText name(arguments[1]);
  if (g_follows_loop) LoopPhaseBegins(phase, name.data(), name.size());
  if (!Collecting()) return NewNone();
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr &&
      stream->Ensure(sizeof(format::PhaseBeginRecord) + StringBytes(name.size()))) {
    const format::StringRef name_id = stream->Intern(name.data(), name.size());
    stream->Write(format::PhaseBeginRecord{.phase = phase, .name = name_id});
  }
  return NewNone();
}

// Of plain modules alone, by their dictionary: asking any other object may run code.
PyObject* ImportedFile(PyObject*, PyObject* const* arguments, PySsize count) {
  PyObject* const module = Argument(arguments, count, 0);
  TellLibraries();
  if (!Collecting()) return NewNone();
  PyObject* const type = g_py.PyObject_Type(module);
  const bool is_plain = type == g_py.PyModule_Type;
  if (type != nullptr) g_py.Py_DecRef(type);
  if (!is_plain) return NewNone();
  const ItemOf file(g_py.PyModule_GetDict(module), "__file__");
  if (file.get() == nullptr || IsNone(file.get())) return NewNone();
  const PyText text(file.get());
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr &&
      stream->Ensure(sizeof(format::ImportedFileRecord) + StringBytes(text.size()))) {
    stream->Write(format::ImportedFileRecord{.file = stream->Intern(text.data(), text.size()),
                                             .bytes = sys::FileBytes(text.data())});
  }
  return NewNone();
}

PyObject* PhaseEnd(PyObject*, PyObject* const*, PySsize) {
  PyObject* none = WriteEmpty<format::PhaseEndRecord>();
  if (g_follows_loop) {
    LoopPhaseEnds(nvtx::t_default_levels.depth());
    TellDetailWatcher();
  }
  return none;
}

PyObject* OperatorsFromRanges(PyObject*, PyObject* const*, PySsize) {
  nvtx::g_operator_ranges = true;
  return NewNone();
}

PyObject* NameThread(PyObject*, PyObject* const* arguments, PySsize count) {
  const PyText name(Argument(arguments, count, 0));
  Guard guard;
  if (!guard || Control() == nullptr || name.size() == 0) return NewNone();
  const format::ThreadNameRecord record{.tid = static_cast<uint32_t>(sys::Tid()),
                                        .source = kNamedByPython};
  AddFact(guard, record, {{offsetof(format::ThreadNameRecord, name), name.data(), name.size()}});
  return NewNone();
}

}  // namespace batchlight::inject
