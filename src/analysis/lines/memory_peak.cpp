#include "analysis/lines/memory_peak.h"

#include "store/kinds_of_gpu_memory.h"

namespace batchlight {

std::map<ProcessId, std::vector<uint32_t>> BlocksByProcess(const Store& store) {
  const MemoryBlocksTable& table = store.memory_blocks;
  std::map<ProcessId, std::vector<uint32_t>> blocks;
  for (uint32_t row = 0; row < table.size(); ++row) {
    if (!IsOfGpu(table.source[row])) blocks[store.ProcessOf(table.thread[row])].push_back(row);
  }
  return blocks;
}

HeldPeak PeakOfBlocks(const Store& store, const std::vector<uint32_t>& blocks) {
  const MemoryBlocksTable& table = store.memory_blocks;
  std::vector<HeldBlock> held;
  held.reserve(blocks.size());
  for (const uint32_t row : blocks) {
    held.push_back({table.start_ns[row], table.end_ns[row], table.represented_bytes[row]});
  }
  return PeakOf(held);
}

}  // namespace batchlight
