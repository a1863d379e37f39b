#include "timeline/answers/memory_in_range.h"

#include <string>

#include "analysis/memory/memory_part.h"
#include "analysis/ranks/process_ranks.h"
#include "analysis/result/result_column.h"

namespace batchlight::timeline {
namespace {

std::string ProcessText(const Store& store, const std::vector<int32_t>& ranks, ProcessId process) {
  const int32_t rank = ranks[process.row()];
  if (rank >= 0) return "rank " + std::to_string(rank);
  return "pid " + std::to_string(store.processes.pid[process.row()]);
}

Columns<MemoryPart> MemoryColumns(const Store& store) {
  return {{TextColumn("process", "Process", ""),
           [&store, ranks = FindProcessRanks(store)](const MemoryPart& row) {
             return ProcessText(store, ranks, row.curve->process);
           }},
          {TextColumn("gpu", "GPU", ""),
           [](const MemoryPart& row) { return std::to_string(row.curve->device); }},
          {TextColumn("kind", "Memory", "which kind of memory"),
           [](const MemoryPart& row) { return std::string(Label(row.curve->kind)); }},
          {TextColumn("category", "Held for",
                      "what it was first needed for, by where it was asked for"),
           [](const MemoryPart& row) {
             return row.category ? std::string(MemoryCategoryName(*row.category)) : "all";
           }},
          {BytesColumn("before_bytes", "Before", "held when the range begins"),
           Number(&MemoryPart::before_bytes)},
          {BytesColumn("most_bytes", "Most", "the most that was held at once"),
           Number(&MemoryPart::most_bytes)},
          {BytesColumn("after_bytes", "After", "held when the range ends"),
           Number(&MemoryPart::after_bytes)},
          {BytesColumn("allocated_bytes", "Allocated", "asked for within the range"),
           Number(&MemoryPart::allocated_bytes)},
          {BytesColumn("released_bytes", "Released", "given back within the range"),
           Number(&MemoryPart::released_bytes)}};
}

}  // namespace

ResultTable MemoryInRange(const Store& store, const std::vector<MemoryCurve>& curves,
                          int64_t from_ns, int64_t to_ns) {
  return TableOf("memory", "Memory", MemoryColumns(store), MemoryOfPart(curves, from_ns, to_ns));
}

}  // namespace batchlight::timeline
