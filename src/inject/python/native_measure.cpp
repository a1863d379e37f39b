// For the bridge, which times what it wraps: between measure_begin() and measure_end() this thread
// records as usual, but into memory that is thrown away.
#include <atomic>
#include <new>

#include "inject/buffer/scratch_stream.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"

namespace batchlight::inject {
namespace {

// One thread at a time.
alignas(ScratchStream) char g_memory[sizeof(ScratchStream)];
std::atomic<bool> g_taken{false};
__thread ScratchStream* t_scratch;  // of the thread that took it

}  // namespace

// True if it began: nothing can be measured while nothing is recorded.
PyObject* MeasureBegin(PyObject*, PyObject* const*, PySsize) {
  if (!Collecting() || g_taken.exchange(true, std::memory_order_acquire)) {
    return g_py.PyBool_FromLong(0);
  }
  auto* scratch = new (g_memory) ScratchStream;
  const bool begun = static_cast<bool>(*scratch);
  if (begun) {
    t_scratch = scratch;
  } else {
    g_taken.store(false, std::memory_order_release);
  }
  return g_py.PyBool_FromLong(begun ? 1 : 0);
}

// How many records were written.
PyObject* MeasureEnd(PyObject*, PyObject* const*, PySsize) {
  size_t records = 0;
  if (t_scratch != nullptr) {
    records = t_scratch->RecordCount();
    t_scratch->~ScratchStream();
    t_scratch = nullptr;
    g_taken.store(false, std::memory_order_release);
  }
  return g_py.PyLong_FromLongLong(static_cast<long long>(records));
}

}  // namespace batchlight::inject
