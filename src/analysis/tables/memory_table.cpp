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

struct MemoryEvent {
  int64_t time_ns;
  bool release;
  bool known;  // false: the block was allocated before the recording
  const Block& block;
  uint64_t held_bytes;
  std::string_view memory;
  uint32_t device;
  uint32_t pid;
};

const Columns<MemoryEvent>& MemoryEventColumns() {
  using Row = MemoryEvent;
  static const Columns<Row> columns = {
      {TimeColumn("time", "Time", "Since the start of the session"), &Row::time_ns},
      {TextColumn("action", "Action", "CREATE or DESTROY of a block, as PyTorch says it"),
       [](const Row& row) { return std::string(row.release ? "DESTROY" : "CREATE"); }},
      {CountColumn("bytes", "Bytes", "Of the block"),
       [](const Row& row) { return NumberCell(row.block.bytes); }},
      {TextColumn("category", "Category", "What it was allocated for; empty: before the recording"),
       [](const Row& row) {
         return std::string(row.known ? MemoryCategoryName(row.block.category) : "");
       }},
      {TextColumn("place", "Place", "Operator and module that allocated it"),
       [](const Row& row) { return row.block.place; }},
      {CountColumn("held_bytes", "Held Bytes", "By the process of that memory after it"),
       Number(&Row::held_bytes)},
      {TextColumn("memory", "Memory", "Kind of memory"),
       [](const Row& row) { return std::string(row.memory); }},
      {CountColumn("device", "Device", "Number of the GPU"), &Row::device},
      {CountColumn("pid", "PID", "Process"), &Row::pid}};
  return columns;
}

}  // namespace

ResultTable MakeMemoryTimelineTable(const RunOverview& overview) {
  ResultTable table = EmptyTable("memory_timeline", "Memory timeline", MemoryEventColumns());
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
    AddRow(
        table, MemoryEventColumns(),
        {events.start_ns[row], release, known, block, holding.held_bytes,
         Label(events.memory_kind[row]), events.device[row], store.processes.pid[process.row()]});
  }
  return table;
}

}  // namespace batchlight
