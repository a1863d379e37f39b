#include "analysis/memory/operator_memory.h"

#include <algorithm>
#include <vector>

#include "analysis/memory/memory_category.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

uint64_t KeyOf(StringId name, StringId shapes) { return uint64_t{name.value} << 32 | shapes.value; }

}  // namespace

OperatorMemories::OperatorMemories(const Store& store, const StepSet& steps) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  if (events.size() == 0) return;
  const MemoryCategories places(store, steps);
  const OperatorCallsTable& calls = store.operator_calls;
  const IntervalIndex operators(calls.thread, calls.start_ns, calls.end_ns);
  for (size_t row = 0; row < events.size(); ++row) {
    const bool on_gpu = !IsOfCpu(events.memory_kind[row]);
    (on_gpu ? has_gpu_ : has_cpu_) = true;
    const ThreadId thread = places.ThreadOf(row);
    const uint32_t call =
        thread.IsNone() ? kNoRow : operators.Innermost(thread, events.start_ns[row]);
    if (call == kNoRow) continue;
    const auto bytes = static_cast<int64_t>(events.bytes[row]);
    Add(store, call, events.operation[row] == MemoryOperation::kRelease ? -bytes : bytes, on_gpu);
  }
}

void OperatorMemories::Add(const Store& store, uint32_t call, int64_t bytes, bool on_gpu) {
  const OperatorCallsTable& calls = store.operator_calls;
  const auto add = [&](uint32_t row, int64_t OperatorMemory::*part) {
    known_[KeyOf(calls.name[row], calls.shapes[row])].*part += bytes;
    // With shapes, a row of its own for all of them.
    if (!calls.shapes[row].IsNone()) {
      known_[KeyOf(calls.name[row], StringId::None())].*part += bytes;
    }
  };
  add(call, on_gpu ? &OperatorMemory::gpu_self_bytes : &OperatorMemory::cpu_self_bytes);
  std::vector<StringId> seen;  // a call inside one of the same name counts once
  for (OperatorCallId at = OperatorCallId::At(call); !at.IsNone(); at = calls.parent[at.row()]) {
    const StringId name = calls.name[at.row()];
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
    seen.push_back(name);
    add(at.value, on_gpu ? &OperatorMemory::gpu_bytes : &OperatorMemory::cpu_bytes);
  }
}

OperatorMemory OperatorMemories::Of(StringId name, StringId shapes) const {
  const auto found = known_.find(KeyOf(name, shapes));
  return found == known_.end() ? OperatorMemory() : found->second;
}

}  // namespace batchlight
