// GPU memory of PyTorch's caching allocator by line of Python (blocks of store.memory_blocks whose
// source is a GPU, profile --cuda-memory-usage=true --python-lines=gpu). What backward allocates
// belongs to the line whose forward it differentiates, as its time does (line_times.h).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/lines/held_peak.h"
#include "analysis/lines/line_parts.h"
#include "store/interval_index.h"
#include "store/kinds_of_gpu_memory.h"

namespace batchlight {

struct GpuMemoryRow {
  LineKind kind = LineKind::kLine;
  PythonFrameId frame;  // None: no line
  PythonStackId stack;  // of those that reached the line, the one that allocated most
  uint64_t allocations = 0;
  uint64_t allocated_bytes = 0;
  uint64_t backward_bytes = 0;  // of these, by backward of the line, checkpoints run again included
  uint64_t peak_bytes = 0;      // held when its process held most of that GPU
  uint64_t end_bytes = 0;       // not given back
};

struct GpuLineMemory {
  std::vector<GpuMemoryRow> rows;  // by falling bytes at the peak, then allocated
  uint64_t allocated_bytes = 0;
  uint64_t peak_bytes = 0;  // summed over processes and GPUs, each at its own peak

  bool empty() const { return rows.empty(); }
};

// No rows where no stacks were recorded.
GpuLineMemory MeasureGpuLineMemory(const Store& store);

// Who asked for a block. The arguments outlive this.
class GpuBlockCallers {
 public:
  GpuBlockCallers(const Store& store, const BackwardLinks& links, const StackLines& lines);

  // The innermost operator when a block (row of store.memory_blocks) was given; None: there was
  // none.
  OperatorCallId OperatorOf(uint32_t block) const;
  LinePart PartOf(uint32_t block) const;

 private:
  const MemoryBlocksTable& blocks_;
  const IntervalIndex calls_;
  const LineFinder finder_;
};

// Rows of store.memory_blocks that are of a GPU, by time.
std::vector<uint32_t> GpuBlocks(const Store& store);

using GpuOfProcess = std::pair<ProcessId, uint32_t>;  // CUDA ordinal
GpuOfProcess GpuOfBlock(const Store& store, uint32_t block);
// When these blocks of each GPU held most.
std::map<GpuOfProcess, HeldPeak> PeaksOfGpus(const Store& store,
                                             const std::vector<uint32_t>& blocks);

}  // namespace batchlight
