#include "analysis/lines/line_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/lines/memory_peak.h"
#include "analysis/lines/stack_lines.h"

namespace batchlight {
namespace {

// Ends of steps at which growth is looked at: of more steps, so many that are evenly apart.
constexpr size_t kMostLooks = 128;

struct LineSums {
  LineMemoryRow row;
  std::map<PythonStackId, uint64_t> of_stacks;  // bytes allocated
  std::vector<double> changes;                  // of what is held, from look to look
};

std::vector<int64_t> LooksOf(const ProcessSteps* steps) {
  std::vector<int64_t> looks;
  if (steps == nullptr || steps->steady.size() < 2) return looks;
  const size_t count = std::min(kMostLooks, steps->steady.size());
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * (steps->steady.size() - 1) / (count - 1);
    looks.push_back(steps->steps[steps->steady[at]].end_ns);
  }
  return looks;
}

class MemoryMeasurer {
 public:
  explicit MemoryMeasurer(const Store& store)
      : store_(store), blocks_(store.memory_blocks), lines_(store) {}

  void AddProcess(const std::vector<uint32_t>& blocks, const ProcessSteps* steps) {
    const HeldPeak peak = PeakOfBlocks(store_, blocks);
    memory_.peak_bytes += peak.bytes;
    const std::vector<int64_t> looks = LooksOf(steps);
    std::map<Key, LineSums*> own;
    for (const uint32_t block : blocks) {
      LineSums& sums = SumsOf(blocks_.python_stack[block]);
      Add(block, peak, sums.row);
      sums.of_stacks[blocks_.python_stack[block]] += blocks_.represented_bytes[block];
      if (looks.empty()) continue;
      const auto bytes = static_cast<double>(blocks_.represented_bytes[block]);
      sums.changes.resize(looks.size() + 1);
      sums.changes[LookAfter(looks, blocks_.start_ns[block])] += bytes;
      sums.changes[LookAfter(looks, blocks_.end_ns[block])] -= bytes;
      own.try_emplace(KeyOf(blocks_.python_stack[block]), &sums);
    }
    if (looks.empty()) return;
    const double every =
        static_cast<double>(steps->steady.size() - 1) / static_cast<double>(looks.size() - 1);
    memory_.steps += steps->steady.size();
    for (auto& [key, sums] : own) AddGrowth(every, *sums);
  }

  LineMemory Finish() {
    for (auto& [key, sums] : sums_) {
      uint64_t most = 0;
      for (const auto& [stack, bytes] : sums.of_stacks) {
        if (bytes < most || stack.IsNone()) continue;
        most = bytes;
        sums.row.stack = stack;
      }
      memory_.rows.push_back(sums.row);
    }
    std::stable_sort(memory_.rows.begin(), memory_.rows.end(),
                     [](const LineMemoryRow& a, const LineMemoryRow& b) {
                       return std::pair(a.peak_bytes, a.allocated_bytes) >
                              std::pair(b.peak_bytes, b.allocated_bytes);
                     });
    return std::move(memory_);
  }

 private:
  using Key = std::pair<StringId, uint32_t>;  // file and line

  PythonFrameId FrameOf(PythonStackId stack) const {
    return stack.IsNone() ? PythonFrameId::None() : lines_.Of(stack).frame;
  }
  Key KeyOf(PythonStackId stack) const {
    const PythonFrameId frame = FrameOf(stack);
    if (frame.IsNone()) return {};
    return {store_.python_frames.file[frame.row()], store_.python_frames.line[frame.row()]};
  }
  LineSums& SumsOf(PythonStackId stack) {
    const auto [place, added] = sums_.try_emplace(KeyOf(stack));
    if (added) place->second.row.frame = FrameOf(stack);
    return place->second;
  }

  void Add(uint32_t block, const HeldPeak& peak, LineMemoryRow& row) {
    const uint64_t bytes = blocks_.represented_bytes[block];
    const uint64_t python = blocks_.source[block] == MemorySource::kPython ? bytes : 0;
    const uint64_t asked = std::max<uint64_t>(1, blocks_.bytes[block]);
    row.allocations += static_cast<uint64_t>(
        std::llround(static_cast<double>(bytes) / static_cast<double>(asked)));
    row.allocated_bytes += bytes;
    row.python_bytes += python;
    memory_.allocated_bytes += bytes;
    ++memory_.blocks;
    if (blocks_.end_ns[block] == kOpenEnd) row.end_bytes += bytes;
    if (peak.Has(blocks_.start_ns[block], blocks_.end_ns[block])) {
      row.peak_bytes += bytes;
      row.peak_python_bytes += python;
    }
  }

  // The first look that a moment is not after; looks.size(): none.
  static size_t LookAfter(const std::vector<int64_t>& looks, int64_t at_ns) {
    return static_cast<size_t>(std::lower_bound(looks.begin(), looks.end(), at_ns) - looks.begin());
  }

  // `every`: steps from look to look. The line's changes are used up.
  void AddGrowth(double every, LineSums& sums) {
    size_t rising = 0;
    double grown = 0;
    const size_t looks = sums.changes.size() - 1;
    for (size_t look = 1; look < looks; ++look) {  // what was held at the first is no growth
      grown += sums.changes[look];
      rising += sums.changes[look] > 0 ? 1 : 0;
    }
    const double stretches = static_cast<double>(looks - 1);
    sums.row.growth_per_step_bytes += grown / (stretches * every);
    sums.row.rising_share =
        std::max(sums.row.rising_share, static_cast<double>(rising) / stretches);
    sums.changes.clear();
  }

  const Store& store_;
  const MemoryBlocksTable& blocks_;
  StackLines lines_;
  std::map<Key, LineSums> sums_;
  LineMemory memory_;
};

}  // namespace

LineMemory MeasureLineMemory(const Store& store, const StepSet& steps) {
  MemoryMeasurer measurer(store);
  for (const auto& [process, rows] : BlocksByProcess(store)) {
    measurer.AddProcess(rows, steps.Of(process));
  }
  return measurer.Finish();
}

}  // namespace batchlight
