#include "inject/backtrace/stack_rows.h"

#include "inject/rt/sys.h"

namespace batchlight::inject::backtrace {
namespace {

native::Stretch FromSegment(const void* segment, uint64_t address) {
  return static_cast<const native::Stretch*>(segment)->From(address);
}

StackRow RowOf(const LoadedModule& module, uintptr_t pc) {
  StackRow row;
  const native::UnwindTables tables(module.header, {&module.table_segment, FromSegment});
  if (const auto whole = tables.RowAt(pc - module.load_bias)) row = Shorten(*whole);
  row.is_code = 1;
  row.is_recorder = module.is_recorder ? 1 : 0;
  return row;
}

}  // namespace

constinit StackRows g_stack_rows;

StackRows::Entry* StackRows::Entries() {
  Entry* entries = entries_.load(std::memory_order_relaxed);
  if (entries == nullptr) {
    entries = static_cast<Entry*>(sys::MapMemory(kCapacity * sizeof(Entry)));
    entries_.store(entries, std::memory_order_release);
  }
  return entries;
}

void StackRows::Insert(uintptr_t pc, StackRow row) {
  Entry* entries = Entries();
  if (entries == nullptr) return;
  // Another library has come where one was: no walk may go by the rows of the former for long.
  if (generation_ != modules_.generation()) {
    generation_ = modules_.generation();
    for (size_t slot = 0; slot < kCapacity; ++slot) {
      if (entries[slot].pc.load(std::memory_order_relaxed) != 0) {
        entries[slot].pc.store(0, std::memory_order_relaxed);
      }
    }
  }
  size_t slot = SlotOf(pc);
  for (size_t i = 0; i < kProbes && entries[slot].pc.load(std::memory_order_relaxed) != 0; ++i) {
    slot = (slot + 1) % kCapacity;
  }
  if (entries[slot].pc.load(std::memory_order_relaxed) != 0) slot = SlotOf(pc);
  entries[slot].pc.store(0, std::memory_order_relaxed);
  entries[slot].row.store(row, std::memory_order_release);
  entries[slot].pc.store(pc, std::memory_order_release);
}

StackRow StackRows::Read(const Guard& guard, uintptr_t pc) {
  StackRow row;
  (void)WithModules(guard, [&](LoadedModules& modules) {
    modules.Refresh();
    const LoadedModule* module = modules.Find(pc);
    if (module == nullptr) return;
    row = RowOf(*module, pc);
    Insert(pc, row);
  });
  return row;
}

}  // namespace batchlight::inject::backtrace
