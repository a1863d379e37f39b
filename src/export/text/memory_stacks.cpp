#include "export/text/memory_stacks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lines/gpu_line_memory.h"
#include "analysis/lines/memory_peak.h"
#include "analysis/owners/backward_links.h"
#include "export/text/python_frames.h"

namespace batchlight {
namespace {

using BytesOfStacks = std::map<std::pair<ThreadId, PythonStackId>, uint64_t>;

int64_t ValueOf(uint64_t bytes) {
  return static_cast<int64_t>(std::min(bytes, static_cast<uint64_t>(INT64_MAX)));
}

NamedStacks Named(const Store& store, const BytesOfStacks& bytes) {
  NamedStacks stacks;
  for (const auto& [key, sum] : bytes) {
    if (sum == 0) continue;
    NamedStack& stack = stacks.emplace_back(NamedStack{key.first, {}, ValueOf(sum)});
    AddPythonFrames(store, key.second, stack.frames);
    std::reverse(stack.frames.begin(), stack.frames.end());
    if (stack.frames.empty()) stack.frames.push_back({"[no Python code]"});
  }
  return stacks;
}

}  // namespace

NamedStacks MemoryStacks(const Store& store, bool at_peak) {
  const MemoryBlocksTable& blocks = store.memory_blocks;
  BytesOfStacks bytes;
  for (const auto& [process, rows] : BlocksByProcess(store)) {
    const HeldPeak peak = PeakOfBlocks(store, rows);
    for (const uint32_t row : rows) {
      if (at_peak && !peak.Has(blocks.start_ns[row], blocks.end_ns[row])) continue;
      bytes[{blocks.thread[row], blocks.python_stack[row]}] += blocks.represented_bytes[row];
    }
  }
  return Named(store, bytes);
}

NamedStacks GpuMemoryStacks(const Store& store, bool at_peak) {
  const MemoryBlocksTable& table = store.memory_blocks;
  const std::vector<uint32_t> blocks = GpuBlocks(store);
  const std::map<GpuOfProcess, HeldPeak> peaks = PeaksOfGpus(store, blocks);
  const BackwardLinks links(store);
  const StackLines lines(store);
  const GpuBlockCallers callers(store, links, lines);
  std::map<std::tuple<ThreadId, PythonStackId, bool, StringId>, uint64_t> bytes;
  for (const uint32_t block : blocks) {
    const HeldPeak& peak = peaks.at(GpuOfBlock(store, block));
    if (at_peak && !peak.Has(table.start_ns[block], table.end_ns[block])) continue;
    const LinePart part = callers.PartOf(block);
    const OperatorCallId op = callers.OperatorOf(block);
    const StringId name = op.IsNone() ? StringId() : store.operator_calls.name[op.row()];
    bytes[{table.thread[block], part.stack, part.side != LineSide::kForward, name}] +=
        table.bytes[block];
  }
  NamedStacks stacks;
  for (const auto& [key, sum] : bytes) {
    const auto& [thread, stack_id, backward, name] = key;
    NamedStack& stack = stacks.emplace_back(NamedStack{thread, {}, ValueOf(sum)});
    if (!name.IsNone()) stack.frames.push_back({std::string(store.Text(name))});
    if (backward) stack.frames.push_back({"[backward]"});
    AddPythonFrames(store, stack_id, stack.frames);
    std::reverse(stack.frames.begin(), stack.frames.end());
    if (stack.frames.empty()) stack.frames.push_back({"[no Python code]"});
  }
  return stacks;
}

}  // namespace batchlight
