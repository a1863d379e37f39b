// For the bridge, which times what it wraps: between measure_begin() and measure_end() this thread
// records as usual, but into memory that is thrown away.
#include <new>

#include "inject/buffer/scratch_stream.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"

namespace batchlight::inject {
namespace {

// One at a time, by the thread that holds the GIL.
alignas(ScratchStream) char g_memory[sizeof(ScratchStream)];
ScratchStream* g_scratch = nullptr;
uint32_t g_tid = 0;

}  // namespace

// True if it began: nothing can be measured while nothing is recorded.
PyObject* MeasureBegin(PyObject*, PyObject* const*, PySsize) {
  if (g_scratch != nullptr || !Collecting()) return g_py.PyBool_FromLong(0);
  auto* scratch = new (g_memory) ScratchStream;
  if (!*scratch) return g_py.PyBool_FromLong(0);
  g_scratch = scratch;
  g_tid = static_cast<uint32_t>(sys::Tid());
  return g_py.PyBool_FromLong(1);
}

// How many records were written.
PyObject* MeasureEnd(PyObject*, PyObject* const*, PySsize) {
  size_t records = 0;
  if (g_scratch != nullptr && g_tid == static_cast<uint32_t>(sys::Tid())) {
    records = g_scratch->RecordCount();
    g_scratch->~ScratchStream();
    g_scratch = nullptr;
  }
  return g_py.PyLong_FromLongLong(static_cast<long long>(records));
}

}  // namespace batchlight::inject
