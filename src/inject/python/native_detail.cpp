// Steps without detail, for the bridge: its wrappers of modules look at a byte, and what else it
// has to switch it is told.

#include <bit>

#include "format/records.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/step_board.h"
#include "inject/collect/step_detail.h"
#include "inject/python/native_function.h"

namespace batchlight::inject {
namespace {

// A watcher is told on the thread that it began to watch on, whose it switches: so no other thread
// takes what is to be told, and none is overtaken.
__thread PyObject* t_watcher;  // held for ever
__thread bool t_told_plain;    // that steps have no detail

}  // namespace

namespace {

PyObject* ViewOf(const void* byte) {
  constexpr int kReadOnly = 0x100;  // PyBUF_READ
  return g_py.PyMemoryView_FromMemory(static_cast<char*>(const_cast<void*>(byte)), 1, kReadOnly);
}

}  // namespace

PyObject* ModulesPass(PyObject*, PyObject* const*, PySsize) { return ViewOf(&g_modules_pass); }

// The session's own state: a window that begins in another process is seen at once.
PyObject* PhasesState(PyObject*, PyObject* const* arguments, PySsize count) {
  static_assert(format::kStateCollecting == 1 && std::endian::native == std::endian::little);
  static constexpr char kAlways = 1;
  const bool counts_steps = AsNumber(Argument(arguments, count, 0)) ==
                            static_cast<uint64_t>(format::Phase::kOptimizerStep);
  const bool always = counts_steps || g_has_board;
  return ViewOf(always ? static_cast<const void*>(&kAlways)
                       : static_cast<const void*>(g_state.load(std::memory_order_relaxed)));
}

PyObject* WatchDetail(PyObject*, PyObject* const* arguments, PySsize count) {
  PyObject* const watcher = Argument(arguments, count, 0);
  g_py.Py_IncRef(watcher);
  t_watcher = watcher;
  return NewNone();
}

void TellDetailWatcher() {
  const bool plain = IsPlainStep();
  if (__builtin_expect(t_watcher == nullptr || t_told_plain == plain, 1)) return;
  t_told_plain = plain;
  PyObject* const with_detail = g_py.PyBool_FromLong(plain ? 0 : 1);
  PyObject* const done = g_py.PyObject_CallFunctionObjArgs(t_watcher, with_detail, nullptr);
  if (done != nullptr) {
    g_py.Py_DecRef(done);
  } else {
    g_py.PyErr_Clear();
  }
  g_py.Py_DecRef(with_detail);
}

}  // namespace batchlight::inject
