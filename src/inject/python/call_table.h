// What one thread's Python calls add up to: an entry for each code object, one for each pair of
// caller and callee, and the calls that are open. Only the thread itself touches it, so there is no
// lock, and nothing is allocated once every function has been seen.
//
// The sums are not kept here but in the records of the thread's open chunk, where they grow in
// place (format/records.def): that costs the same store, needs no flush, and a killed program's
// counts are there. A record is good while the chunk is open; when the thread has moved on to
// another chunk, an entry writes a new record there at its next use, from zero, and readers add
// them up.
#pragma once

#include <cstdint>

#include "format/records.h"
#include "inject/memory/memory_api.h"
#include "inject/python/call_arena.h"
#include "inject/python/cpython.h"

namespace batchlight::inject {

struct LineCount {
  format::PythonLineRecord* record;
  uint32_t generation;
};

struct FunctionEntry;

// Calls of `function` by `caller`.
struct CallerEntry {
  FunctionEntry* function;
  FunctionEntry* caller;  // nullptr = whoever runs outside of what is recorded
  format::PythonCallerRecord* record;
  uint32_t generation;  // of the record; others are of a chunk that is gone
  uint32_t depth;       // open calls
};

struct FunctionEntry {
  const void* code;   // held for ever, so that no other code gets its address
  PyObject* builtin;  // name of a function of C, whose `code` is its PyMethodDef
  format::PythonFunctionRecord* record;
  CallerEntry* last_caller;
  uint32_t generation;
  uint32_t depth;  // open calls on this thread
  uint32_t id;
  uint32_t flags;    // co_flags
  uint32_t entered;  // calls since it was last looked at whether to thin it
  int32_t start;     // f_lasti of the function's begin, before 3.12
  bool counted;      // false: not to be recorded
  bool ours;         // of the bridge
  bool thinned;      // its calls are not counted any more
  uint32_t first_line;
  uint32_t line_count;  // of `lines`; 0 = its lines are not timed
  LineCount* lines;     // from first_line on
};

struct OpenCall {
  FunctionEntry* function;
  CallerEntry* caller;
  uint64_t counted_to;  // ticks up to which its time is in the totals
  bool outermost;       // of its function
  bool outermost_of_caller;
  LineCount* line;  // that is running
  uint64_t line_since;
  memory::ThreadBytes line_bytes;  // at line_since, with --python-memory
};

class CallTable {
 public:
  // nullptr: this code object is new.
  FunctionEntry* Find(const void* code) const;
  // nullptr: no memory.
  FunctionEntry* Add(const void* code);
  template <class F>
  void ForEachFunction(F&& visit) {
    for (size_t i = 0; i < functions_.size; ++i) {
      if (functions_.slots[i] != nullptr) visit(*functions_.slots[i]);
    }
  }
  CallerEntry* CallerOf(FunctionEntry* function, FunctionEntry* caller) {
    CallerEntry* recent = function->last_caller;
    if (__builtin_expect(recent != nullptr && recent->caller == caller, 1)) return recent;
    return FindCaller(function, caller);
  }
  OpenCall* Push() {
    if (__builtin_expect(depth == capacity_, 0) && !GrowCalls()) return nullptr;
    return &calls[depth++];
  }
  LineCount* TakeLines(size_t count) { return arena_.Take<LineCount>(count); }
  // Forgets the open calls without counting them.
  void Drop();
  void Release();

  OpenCall* calls = nullptr;
  uint32_t depth = 0;
  uint32_t generation = 0;  // goes up with each chunk
  uint64_t chunk = 0;       // base_ticks of that chunk
  uint32_t state = 0;       // SessionState() at the last look, if it was collecting
  uint32_t fork_count = 0;
  uint32_t options = 0;  // which options the entries were chosen by
  uint64_t last = 0;     // ticks of the last event: time since then belongs to the innermost call
  uint64_t next_totals = 0;  // when to bring the totals of open calls up to date

 private:
  // Open addressing; a power of two, at most half full.
  template <class Entry>
  struct Slots {
    Entry** slots = nullptr;
    size_t size = 0;
    size_t used = 0;
  };
  static size_t Hash(const void* a, const void* b) {
    const uint64_t mixed =
        (reinterpret_cast<uintptr_t>(a) ^ (reinterpret_cast<uintptr_t>(b) << 7)) *
        0x9e3779b97f4a7c15u;
    return mixed >> 24;
  }
  [[gnu::cold, gnu::noinline]] CallerEntry* FindCaller(FunctionEntry* function,
                                                       FunctionEntry* caller);
  [[gnu::cold, gnu::noinline]] bool GrowCalls();
  template <class Entry>
  bool Insert(Slots<Entry>& table, Entry* entry);

  CallArena arena_;
  Slots<FunctionEntry> functions_;
  Slots<CallerEntry> callers_;
  uint32_t capacity_ = 0;
};

inline FunctionEntry* CallTable::Find(const void* code) const {
  if (functions_.size == 0) return nullptr;
  const size_t mask = functions_.size - 1;
  for (size_t i = Hash(code, nullptr) & mask;; i = (i + 1) & mask) {
    FunctionEntry* entry = functions_.slots[i];
    if (entry == nullptr || entry->code == code) return entry;
  }
}

}  // namespace batchlight::inject
