// Steps without detail, for the bridge: its wrappers of modules look at a byte, and what else it
// has to switch it is told.
#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_detail.h"
#include "inject/python/native_function.h"

namespace batchlight::inject {
namespace {

// Under the GIL.
PyObject* g_watcher = nullptr;
bool g_watcher_told = true;  // that steps have detail

}  // namespace

PyObject* ModulesPass(PyObject*, PyObject* const*, PySsize) {
  constexpr int kReadOnly = 0x100;  // PyBUF_READ
  return g_py.PyMemoryView_FromMemory(reinterpret_cast<char*>(&g_modules_pass), 1, kReadOnly);
}

PyObject* FollowDetail(PyObject*, PyObject* const*, PySsize) {
  FollowCollecting();
  TellDetailWatcher();
  return NewNone();
}

PyObject* WatchDetail(PyObject*, PyObject* const* arguments, PySsize count) {
  PyObject* const watcher = Argument(arguments, count, 0);
  g_py.Py_IncRef(watcher);
  if (g_watcher != nullptr) g_py.Py_DecRef(g_watcher);
  g_watcher = watcher;
  return NewNone();
}

void TellDetailWatcher() {
  if (__builtin_expect(g_watcher == nullptr || g_watcher_told == !IsPlainStep(), 1)) return;
  g_watcher_told = !g_watcher_told;
  PyObject* const with_detail = g_py.PyBool_FromLong(g_watcher_told ? 1 : 0);
  PyObject* const done = g_py.PyObject_CallFunctionObjArgs(g_watcher, with_detail, nullptr);
  if (done != nullptr) {
    g_py.Py_DecRef(done);
  } else {
    g_py.PyErr_Clear();
  }
  g_py.Py_DecRef(with_detail);
}

}  // namespace batchlight::inject
