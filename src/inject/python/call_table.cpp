#include "inject/python/call_table.h"

#include <cstring>

namespace batchlight::inject {
namespace {

constexpr size_t kFirstSlots = 1024;
constexpr uint32_t kFirstCalls = 256;
constexpr uint32_t kMostCalls = 1u << 20;

size_t HashOf(const FunctionEntry& entry, size_t (*hash)(const void*, const void*)) {
  return hash(entry.code, nullptr);
}
size_t HashOf(const CallerEntry& entry, size_t (*hash)(const void*, const void*)) {
  return hash(entry.function, entry.caller);
}

}  // namespace

template <class Entry>
bool CallTable::Insert(Slots<Entry>& table, Entry* entry) {
  const auto place = [&](Entry* one) {
    const size_t mask = table.size - 1;
    size_t i = HashOf(*one, Hash) & mask;
    while (table.slots[i] != nullptr) i = (i + 1) & mask;
    table.slots[i] = one;
  };
  if (2 * (table.used + 1) > table.size) {
    const size_t size = table.size == 0 ? kFirstSlots : 2 * table.size;
    Entry** slots = arena_.Take<Entry*>(size);
    if (slots == nullptr) return false;
    Entry** const old = table.slots;
    const size_t old_size = table.size;
    table.slots = slots;
    table.size = size;
    for (size_t i = 0; i < old_size; ++i) {
      if (old[i] != nullptr) place(old[i]);
    }
  }
  place(entry);
  ++table.used;
  return true;
}

FunctionEntry* CallTable::Add(const void* code) {
  auto* entry = arena_.Take<FunctionEntry>();
  if (entry == nullptr) return nullptr;
  entry->code = code;
  entry->id = static_cast<uint32_t>(functions_.used + 1);
  entry->start = INT32_MAX;
  return Insert(functions_, entry) ? entry : nullptr;
}

CallerEntry* CallTable::FindCaller(FunctionEntry* function, FunctionEntry* caller) {
  if (callers_.size > 0) {
    const size_t mask = callers_.size - 1;
    for (size_t i = Hash(function, caller) & mask; callers_.slots[i] != nullptr;
         i = (i + 1) & mask) {
      CallerEntry* entry = callers_.slots[i];
      if (entry->function == function && entry->caller == caller) {
        return function->last_caller = entry;
      }
    }
  }
  auto* entry = arena_.Take<CallerEntry>();
  if (entry == nullptr) return nullptr;
  entry->function = function;
  entry->caller = caller;
  return Insert(callers_, entry) ? function->last_caller = entry : nullptr;
}

// The old array stays in the arena: half of the new one's size.
bool CallTable::GrowCalls() {
  const uint32_t capacity = capacity_ == 0 ? kFirstCalls : 2 * capacity_;
  auto* grown = capacity <= kMostCalls ? arena_.Take<OpenCall>(capacity) : nullptr;
  if (grown == nullptr) return false;
  if (depth > 0) std::memcpy(grown, calls, depth * sizeof(OpenCall));
  calls = grown;
  capacity_ = capacity;
  return true;
}

void CallTable::Drop() {
  for (uint32_t i = 0; i < depth; ++i) {
    calls[i].function->depth = 0;
    if (calls[i].caller != nullptr) calls[i].caller->depth = 0;
  }
  depth = 0;
}

void CallTable::Release() {
  arena_.Release();
  *this = CallTable();
}

}  // namespace batchlight::inject
