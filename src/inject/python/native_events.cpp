// Phases of the training loop, names of threads.
#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/loop_follower.h"
#include "inject/nvtx/levels.h"
#include "inject/nvtx/operator_range.h"
#include "inject/python/empty_record.h"
#include "inject/python/import_libraries.h"
#include "inject/python/native_function.h"
#include "inject/rt/control.h"
#include "inject/rt/sys.h"

namespace batchlight::inject {
namespace {

constexpr uint32_t kNamedByPython = 2;  // ThreadNameRecord::source
constexpr auto kImport = static_cast<uint32_t>(format::Phase::kImport);

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

void WritePhaseBegin(uint32_t phase, const char* name, size_t bytes) {
  if (!Collecting()) return;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::PhaseBeginRecord) + StringBytes(bytes))) {
    return;
  }
  const format::StringRef name_id = stream->Intern(name, bytes);
  stream->Write(format::PhaseBeginRecord{.phase = phase, .name = name_id});
}

}  // namespace

PyObject* PhaseBegin(PyObject*, PyObject* const* arguments, PySsize count) {
  if (count < 2) return NewNone();
  const auto phase = static_cast<uint32_t>(AsNumber(arguments[0]));
  FollowCollecting();  // a window may have begun in another process
  TellDetailWatcher();
  if (phase == kImport) TellLibraries();  // of the import around this one
  const PyText name(arguments[1]);
  if (g_follows_loop) LoopPhaseBegins(phase, name.data(), name.size());
  WritePhaseBegin(phase, name.data(), name.size());
  return NewNone();
}

// One of gc.callbacks: it runs no Python, in the middle of whatever the program does.
PyObject* Collected(PyObject*, PyObject* const* arguments, PySsize count) {
  constexpr int kFull = 2;
  if (count < 2) return NewNone();
  const ItemOf generation(arguments[1], "generation");
  if (generation.get() == nullptr || AsNumber(generation.get()) != kFull) return NewNone();
  constexpr char kStart[] = "start", kName[] = "garbage collection";
  const PyText what(arguments[0]);
  if (what.size() == sizeof kStart - 1 && std::memcmp(what.data(), kStart, what.size()) == 0) {
    WritePhaseBegin(static_cast<uint32_t>(format::Phase::kGarbageCollection), kName,
                    sizeof kName - 1);
  } else {
    WriteEmpty<format::PhaseEndRecord>();
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
  WriteEmpty<format::PhaseEndRecord>();
  if (g_follows_loop) {
    LoopPhaseEnds(nvtx::t_default_levels.depth());
    TellDetailWatcher();
  }
  return NewNone();
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
