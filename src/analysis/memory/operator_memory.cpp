#include "analysis/memory/operator_memory.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/memory/memory_category.h"
#include "base/saturating_add.h"
#include "store/kinds_of_gpu_memory.h"

namespace batchlight {
namespace {

uint64_t KeyOf(StringId name, StringId shapes) { return uint64_t{name.value} << 32 | shapes.value; }

// The operator in which a block is released: kNoRow where none, or one of several, may be.
class Releases {
 public:
  Releases(const Store& store, const IntervalIndex& operators)
      : store_(store), operators_(operators) {
    ThreadId before;
    for (const ThreadId thread : store.operator_calls.thread) {
      if (thread == before || thread.IsNone()) continue;
      threads_[store.ProcessOf(thread)].push_back(thread);
      before = thread;
    }
  }

  uint32_t OperatorAt(ThreadId allocated, int64_t time_ns) const {
    const uint32_t own = operators_.Innermost(allocated, time_ns);
    if (own != kNoRow) return own;
    const auto threads = threads_.find(store_.ProcessOf(allocated));
    if (threads == threads_.end()) return kNoRow;
    uint32_t found = kNoRow;
    for (const ThreadId thread : threads->second) {
      const uint32_t call = operators_.Innermost(thread, time_ns);
      if (call == kNoRow) continue;
      if (found != kNoRow) return kNoRow;
      found = call;
    }
    return found;
  }

 private:
  const Store& store_;
  const IntervalIndex& operators_;
  std::map<ProcessId, std::vector<ThreadId>> threads_;  // that ran operators
};

}  // namespace

OperatorMemories::OperatorMemories(const Store& store, const StepSet& steps) {
  if (store.gpu_memory_events.size() == 0 && store.memory_blocks.size() == 0) return;
  const OperatorCallsTable& calls = store.operator_calls;
  const IntervalIndex operators(calls.thread, calls.start_ns, calls.end_ns);
  AddBlocks(store, operators);
  AddEvents(store, steps, operators);
}

void OperatorMemories::AddBlocks(const Store& store, const IntervalIndex& operators) {
  const MemoryBlocksTable& blocks = store.memory_blocks;
  const Releases releases(store, operators);
  for (size_t row = 0; row < blocks.size(); ++row) {
    if (blocks.thread[row].IsNone()) continue;
    const bool on_gpu = IsOfGpu(blocks.source[row]);
    (on_gpu ? has_gpu_ : has_cpu_) = true;
    const auto bytes = static_cast<int64_t>(
        std::min(blocks.represented_bytes[row], static_cast<uint64_t>(INT64_MAX)));
    const uint32_t taken = operators.Innermost(blocks.thread[row], blocks.start_ns[row]);
    if (taken != kNoRow) Add(store, taken, bytes, on_gpu);
    if (blocks.end_ns[row] == kOpenEnd) continue;
    const uint32_t released = releases.OperatorAt(blocks.thread[row], blocks.end_ns[row]);
    if (released != kNoRow) Add(store, released, -bytes, on_gpu);
  }
}

void OperatorMemories::AddEvents(const Store& store, const StepSet& steps,
                                 const IntervalIndex& operators) {
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  if (events.size() == 0) return;
  const bool has_gpu_blocks = has_gpu_, has_cpu_blocks = has_cpu_;  // each counts once
  const MemoryCategories places(store, steps);
  for (size_t row = 0; row < events.size(); ++row) {
    const bool on_gpu = !IsOfCpu(events.memory_kind[row]);
    if (on_gpu ? has_gpu_blocks : has_cpu_blocks) continue;
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
    SaturatingAdd(known_[KeyOf(calls.name[row], calls.shapes[row])].*part, bytes);
    // With shapes, a row of its own for all of them.
    if (!calls.shapes[row].IsNone()) {
      SaturatingAdd(known_[KeyOf(calls.name[row], StringId::None())].*part, bytes);
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
