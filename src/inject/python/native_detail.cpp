// Steps without detail, for the bridge: its wrappers of modules look at a byte, and what else it
// has to switch it is told.
#include <atomic>

#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_detail.h"
#include "inject/python/native_function.h"

namespace batchlight::inject {
namespace {

// Threads may be here at the same time: not every Python has a GIL.
std::atomic<PyObject*> g_watcher{nullptr};  // held for ever
std::atomic<bool> g_watcher_told{true};     // that steps have detail

}  // namespace

PyObject* ModulesPass(PyObject*, PyObject* const*, PySsize) {
  constexpr int kReadOnly = 0x100;  // PyBUF_READ
  return g_py.PyMemoryView_FromMemory(reinterpret_cast<char*>(&g_modules_pass), 1, kReadOnly);
}

PyObject* WatchDetail(PyObject*, PyObject* const* arguments, PySsize count) {
  PyObject* const watcher = Argument(arguments, count, 0);
  g_py.Py_IncRef(watcher);
  g_watcher.store(watcher, std::memory_order_release);
  return NewNone();
}

void TellDetailWatcher() {
  PyObject* const watcher = g_watcher.load(std::memory_order_acquire);
  const bool detail = !IsPlainStep();
  if (__builtin_expect(
          watcher == nullptr || g_watcher_told.load(std::memory_order_relaxed) == detail, 1)) {
    return;
  }
  if (g_watcher_told.exchange(detail, std::memory_order_relaxed) == detail) return;
  PyObject* const with_detail = g_py.PyBool_FromLong(detail ? 1 : 0);
  PyObject* const done = g_py.PyObject_CallFunctionObjArgs(watcher, with_detail, nullptr);
  if (done != nullptr) {
    g_py.Py_DecRef(done);
  } else {
    g_py.PyErr_Clear();
  }
  g_py.Py_DecRef(with_detail);
}

}  // namespace batchlight::inject
