// The memory timeline: every allocation and release with what it was for, as PyTorch's
// export_memory_timeline() has it.
#include <map>
#include <tuple>

#include "analysis/memory/gpu_memory.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Block {
  uint64_t bytes = 0;
  MemoryCategory category = MemoryCategory::kOther;
  std::string place;
};

// What one process holds of one kind of memory of one device.
struct Holding {
  std::map<uint64_t, Block> blocks;  // by address
  uint64_t held_bytes = 0;
};

}  // namespace

ResultTable MakeMemoryTimelineTable(const RunOverview& overview) {
  ResultTable table{.name = "memory_timeline", .title = "Memory timeline"};
  table.columns = {TimeColumn("Time", "Since the start of the session"),
                   TextColumn("Action", "CREATE or DESTROY of a block, as PyTorch says it"),
                   CountColumn("Bytes", "Of the block"),
                   TextColumn("Category", "What it was allocated for; empty: before the recording"),
                   TextColumn("Place", "Operator and module that allocated it"),
                   CountColumn("Held Bytes", "By the process of that memory after it"),
                   TextColumn("Memory", "Kind of memory"),
                   CountColumn("Device", "Number of the GPU"),
                   CountColumn("PID", "Process")};
  const Store& store = *overview.store;
  const GpuMemoryEventsTable& events = store.gpu_memory_events;
  if (events.size() == 0) return table;
  const MemoryCategories categories(store, overview.steps);
  std::map<std::tuple<uint32_t, uint32_t, MemoryKind>, Holding> holdings;
  for (size_t row = 0; row < events.size(); ++row) {
    const ProcessId process = events.process[row];
    if (process.IsNone()) continue;
    Holding& holding = holdings[{process.value, events.device[row], events.memory_kind[row]}];
    const bool release = events.operation[row] == MemoryOperation::kRelease;
    Block block{.bytes = events.bytes[row]};
    bool known = true;
    if (!release) {
      block.category = categories.Of(row);
      block.place = categories.PlaceOf(row);
      Block& place = holding.blocks[events.address[row]];
      holding.held_bytes += block.bytes - place.bytes;  // given again: it was released unseen
      place = block;
    } else if (auto node = holding.blocks.extract(events.address[row]); !node.empty()) {
      block = std::move(node.mapped());
      holding.held_bytes -= block.bytes;
    } else {
      known = false;
    }
    table.rows.push_back(
        {events.start_ns[row], release ? "DESTROY" : "CREATE", NumberCell(block.bytes),
         known ? std::string(MemoryCategoryName(block.category)) : std::string(), block.place,
         NumberCell(holding.held_bytes), std::string(Label(events.memory_kind[row])),
         int64_t{events.device[row]}, int64_t{store.processes.pid[process.row()]}});
  }
  return table;
}

}  // namespace batchlight
