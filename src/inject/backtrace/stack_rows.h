// The rows of all places in the code that walks have met, of the whole process: a look-up is two
// loads. A place met for the first time has its row read from its module's unwind tables.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "inject/backtrace/loaded_modules.h"
#include "inject/backtrace/stack_row.h"
#include "inject/rt/lock.h"

namespace batchlight::inject::backtrace {

class StackRows {
 public:
  // `pc`: of the instruction; of callers, within the call.
  StackRow At(const Guard& guard, uintptr_t pc) {
    const Entry* entries = entries_.load(std::memory_order_acquire);
    if (__builtin_expect(entries != nullptr, 1)) {
      for (size_t slot = SlotOf(pc), i = 0; i < kProbes; slot = (slot + 1) % kCapacity, ++i) {
        if (entries[slot].pc.load(std::memory_order_acquire) == pc) {
          return entries[slot].row.load(std::memory_order_relaxed);
        }
      }
    }
    return Read(guard, pc);
  }

  // Calls visit(modules) with nobody else at the modules. False: somebody has held them too long.
  template <typename Visit>
  bool WithModules(const Guard&, Visit&& visit) {
    Locked locked(lock_);
    if (locked) visit(modules_);
    return static_cast<bool>(locked);
  }

 private:
  struct Entry {
    std::atomic<uintptr_t> pc;
    std::atomic<StackRow> row;  // belongs to `pc`, which is written after it
  };
  static constexpr size_t kCapacity = 1 << 16;
  static constexpr size_t kProbes = 8;  // a place that finds none free takes the first

  static size_t SlotOf(uintptr_t pc) {
    return (pc * 0x9e3779b97f4a7c15) >> 48;  // 16 bits: kCapacity
  }
  [[gnu::cold, gnu::noinline]] StackRow Read(const Guard& guard, uintptr_t pc);
  Entry* Entries();
  void Insert(uintptr_t pc, StackRow row);

  std::atomic<Entry*> entries_{nullptr};
  Lock lock_;
  LoadedModules modules_;
  uint32_t generation_ = 0;  // of the modules whose rows are here
};

extern StackRows g_stack_rows;

}  // namespace batchlight::inject::backtrace
