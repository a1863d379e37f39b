#include "analysis/lines/gpu_line_memory.h"

#include <algorithm>
#include <tuple>

#include "analysis/owners/backward_links.h"

namespace batchlight {
namespace {

class GpuMemoryMeasurer {
 public:
  explicit GpuMemoryMeasurer(const Store& store) : store_(store), lines_(store) {}

  void Add(uint32_t block, const LinePart& part, bool at_peak) {
    const uint64_t bytes = store_.memory_blocks.bytes[block];
    GpuMemoryRow& row = RowOf(part);
    ++row.allocations;
    row.allocated_bytes += bytes;
    if (part.side != LineSide::kForward) row.backward_bytes += bytes;
    if (at_peak) row.peak_bytes += bytes;
    if (store_.memory_blocks.end_ns[block] == kOpenEnd) row.end_bytes += bytes;
    memory_.allocated_bytes += bytes;
    if (part.stack.IsNone()) return;
    uint64_t& of_stack = of_stacks_[part.stack];
    of_stack += bytes;
    if (row.stack.IsNone() || of_stack >= of_stacks_[row.stack]) row.stack = part.stack;
  }

  GpuLineMemory Finish(const std::map<GpuOfProcess, HeldPeak>& peaks) {
    for (const auto& [gpu, peak] : peaks) memory_.peak_bytes += peak.bytes;
    for (const auto& [key, row] : rows_) memory_.rows.push_back(row);
    std::stable_sort(memory_.rows.begin(), memory_.rows.end(),
                     [](const GpuMemoryRow& a, const GpuMemoryRow& b) {
                       return std::pair(a.peak_bytes, a.allocated_bytes) >
                              std::pair(b.peak_bytes, b.allocated_bytes);
                     });
    return std::move(memory_);
  }

  const StackLines& lines() const { return lines_; }

 private:
  GpuMemoryRow& RowOf(const LinePart& part) {
    const PythonFrameId frame = part.stack.IsNone() ? PythonFrameId() : lines_.Of(part.stack).frame;
    std::tuple<LineKind, StringId, uint32_t> key{part.kind, {}, 0};
    if (!frame.IsNone()) {
      key = {part.kind, store_.python_frames.file[frame.row()],
             store_.python_frames.line[frame.row()]};
    }
    const auto [place, added] = rows_.try_emplace(key);
    if (added) {
      place->second.kind = part.kind;
      place->second.frame = frame;
    }
    return place->second;
  }

  const Store& store_;
  const StackLines lines_;
  std::map<std::tuple<LineKind, StringId, uint32_t>, GpuMemoryRow> rows_;
  std::map<PythonStackId, uint64_t> of_stacks_;
  GpuLineMemory memory_;
};

}  // namespace

GpuBlockCallers::GpuBlockCallers(const Store& store, const BackwardLinks& links,
                                 const StackLines& lines)
    : blocks_(store.memory_blocks),
      calls_(store.operator_calls.thread, store.operator_calls.start_ns,
             store.operator_calls.end_ns),
      finder_(store, links, lines) {}

OperatorCallId GpuBlockCallers::OperatorOf(uint32_t block) const {
  const uint32_t call = calls_.Innermost(blocks_.thread[block], blocks_.start_ns[block]);
  return call == kNoRow ? OperatorCallId() : OperatorCallId::At(call);
}

LinePart GpuBlockCallers::PartOf(uint32_t block) const {
  WorkOwner owner;
  owner.op = OperatorOf(block);
  return finder_.OfWork(owner, blocks_.python_stack[block]);
}

std::vector<uint32_t> GpuBlocks(const Store& store) {
  const MemoryBlocksTable& table = store.memory_blocks;
  std::vector<uint32_t> blocks;
  for (uint32_t row = 0; row < table.size(); ++row) {
    if (IsOfGpu(table.source[row])) blocks.push_back(row);
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [&](uint32_t a, uint32_t b) { return table.start_ns[a] < table.start_ns[b]; });
  return blocks;
}

GpuOfProcess GpuOfBlock(const Store& store, uint32_t block) {
  const MemoryBlocksTable& table = store.memory_blocks;
  return {store.ProcessOf(table.thread[block]), GpuOf(table.source[block])};
}

std::map<GpuOfProcess, HeldPeak> PeaksOfGpus(const Store& store,
                                             const std::vector<uint32_t>& blocks) {
  const MemoryBlocksTable& table = store.memory_blocks;
  std::map<GpuOfProcess, std::vector<HeldBlock>> held;
  for (const uint32_t row : blocks) {
    held[GpuOfBlock(store, row)].push_back(
        {table.start_ns[row], table.end_ns[row], table.bytes[row]});
  }
  std::map<GpuOfProcess, HeldPeak> peaks;
  for (const auto& [gpu, own] : held) peaks[gpu] = PeakOf(own);
  return peaks;
}

GpuLineMemory MeasureGpuLineMemory(const Store& store) {
  const std::vector<uint32_t> blocks = GpuBlocks(store);
  if (blocks.empty() || !HasCallStacks(store)) return {};
  const MemoryBlocksTable& table = store.memory_blocks;
  const std::map<GpuOfProcess, HeldPeak> peaks = PeaksOfGpus(store, blocks);
  const BackwardLinks links(store);
  GpuMemoryMeasurer measurer(store);
  const GpuBlockCallers callers(store, links, measurer.lines());
  for (const uint32_t block : blocks) {
    const HeldPeak& peak = peaks.at(GpuOfBlock(store, block));
    measurer.Add(block, callers.PartOf(block),
                 peak.Has(table.start_ns[block], table.end_ns[block]));
  }
  return measurer.Finish(peaks);
}

}  // namespace batchlight
