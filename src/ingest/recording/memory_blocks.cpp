#include "ingest/recording/memory_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/kinds_of_gpu_memory.h"

namespace batchlight {
namespace {

constexpr uint32_t kFree = UINT32_MAX;

struct MemoryEvent {
  int64_t at_ns;
  uint64_t address;
  uint32_t row;  // of store.memory_blocks; kFree

  // A free is told before the block is given back, so at the same time it comes first.
  friend bool operator<(const MemoryEvent& a, const MemoryEvent& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return (a.row == kFree) > (b.row == kFree);
  }
};

void Pair(std::vector<MemoryEvent>& events, MemoryBlocksTable& blocks) {
  std::stable_sort(events.begin(), events.end());
  std::unordered_map<uint64_t, uint32_t> held;
  for (const MemoryEvent& event : events) {
    const auto found = held.find(event.address);
    if (found != held.end()) blocks.end_ns[found->second] = event.at_ns;
    if (event.row != kFree) {
      held[event.address] = event.row;
    } else if (found != held.end()) {
      held.erase(found);
    }
  }
}

}  // namespace

uint64_t RepresentedBytes(uint64_t bytes, double interval) {
  if (!(interval > 0) || bytes == 0) return bytes;
  const double chance = -std::expm1(-static_cast<double>(bytes) / interval);
  return static_cast<uint64_t>(
      std::min(static_cast<double>(bytes) / chance, static_cast<double>(uint64_t{1} << 62)));
}

void PairMemoryBlocks(std::span<const Fragment> fragments, Store& store) {
  MemoryBlocksTable& blocks = store.memory_blocks;
  if (blocks.size() == 0) return;
  const double interval =
      std::strtod(std::string(store.Property(kMemoryInterval)).c_str(), nullptr);
  std::map<ProcessId, std::vector<MemoryEvent>> events;
  for (uint32_t row = 0; row < blocks.size(); ++row) {
    events[store.ProcessOf(blocks.thread[row])].push_back(
        {blocks.start_ns[row], blocks.address[row], row});
    const bool is_sample = !IsOfGpu(blocks.source[row]);
    blocks.represented_bytes[row] = RepresentedBytes(blocks.bytes[row], is_sample ? interval : 0);
  }
  for (const Fragment& fragment : fragments) {
    for (const MemoryFreeFact& fact : fragment.memory_frees) {
      const auto process = events.find(fact.process);
      if (process != events.end()) process->second.push_back({fact.at_ns, fact.address, kFree});
    }
  }
  for (auto& [process, of_process] : events) Pair(of_process, blocks);
}

}  // namespace batchlight
