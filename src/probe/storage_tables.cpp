#include "probe/storage_tables.h"

#include <string>
#include <utility>

#include "analysis/result/result_column.h"

namespace batchlight::probe {
namespace {

using Row = StorageMeasurement;

ResultColumn RateColumn(std::string key, std::string name, std::string help) {
  return {.name = std::move(name),
          .type = CellType::kInteger,
          .unit = Unit::kRate,
          .help = std::move(help),
          .key = std::move(key)};
}

Cell Whole(double value) { return static_cast<int64_t>(value + 0.5); }

Columns<Row> StorageColumns() {
  return {
      {TextColumn("pattern", "Pattern", "What the workers do"),
       [](const Row& row) { return std::string(row.what->pattern); }},
      {CountColumn("block_bytes", "Block (bytes)", "Size of one read, write or small file"),
       [](const Row& row) {
         return row.what->block_bytes == 0 ? Cell{} : NumberCell(row.what->block_bytes);
       }},
      {TextColumn("cache", "Cache",
                  "cold: at most 1 % of what is read was in memory when it began; warm: 99 % or "
                  "more; unproven: the system does not tell"),
       [](const Row& row) -> Cell {
         return row.cache == CacheState::kNone ? Cell{} : std::string(CacheStateName(row.cache));
       }},
      {PercentColumn("in_memory", "In memory", "Share that was in memory when it began"),
       [](const Row& row) -> Cell {
         return row.resident_share < 0 ? Cell{} : Cell{row.resident_share * 100};
       }},
      {CountColumn("workers", "Workers", "Processes that did it at once"),
       [](const Row& row) { return Cell{int64_t{row.workers}}; }},
      {CountColumn("operations", "Operations", "How many were measured"),
       [](const Row& row) { return NumberCell(row.operations); }},
      {RealColumn("operations_per_s", "Operations/s", "Of all workers together"),
       [](const Row& row) { return Cell{row.operations_per_s}; }},
      {RateColumn("bytes_per_s", "Bytes/s", "Of all workers together"),
       [](const Row& row) { return row.bytes_per_s > 0 ? Whole(row.bytes_per_s) : Cell{}; }},
      {TimeColumn("p50_ns", "p50", "Half of the operations took at most this"),
       [](const Row& row) { return Whole(row.p50_ns); }},
      {TimeColumn("p99_ns", "p99", "99 % of the operations took at most this"),
       [](const Row& row) { return Whole(row.p99_ns); }},
      {TimeColumn("elapsed_ns", "Time", "Of the slowest worker"),
       [](const Row& row) { return Cell{row.elapsed_ns}; }},
      {TextColumn("operation", "Operation", "What one operation is"),
       [](const Row& row) { return std::string(row.what->operation); }},
  };
}

}  // namespace

ResultTable StorageTable(const StorageMeasurements& found) {
  return TableOf("probe_storage", "Storage", StorageColumns(), found.rows);
}

ResultTable StorageChartTable(const StorageMeasurements& found) {
  const Columns<Row> columns = {
      {CountColumn("workers", "Workers", "Processes that read at once"),
       [](const Row& row) { return Cell{int64_t{row.workers}}; }},
      {RateColumn("bytes_per_s", "Bytes/s", "Of all workers together"),
       [](const Row& row) { return Whole(row.bytes_per_s); }},
      {TextColumn("series", "Read", "Pattern and block"),
       [](const Row& row) { return std::string(row.what->short_name); }},
      {TextColumn("path", "Path", "Where"), [&](const Row&) { return found.path; }},
  };
  const bool any_cold = found.Best(StorageKind::kSequentialRead, 1 << 20, true) != nullptr;
  const CacheState wanted = any_cold ? CacheState::kCold : CacheState::kWarm;
  ResultTable table = EmptyTable(
      "probe_storage", std::string("Storage, ") + std::string(CacheStateName(wanted)) + " reads",
      columns);
  for (const Row& row : found.rows) {
    const bool is_block = row.what->kind == StorageKind::kSequentialRead ||
                          row.what->kind == StorageKind::kRandomRead;
    if (is_block && row.cache == wanted) AddRow(table, columns, row);
  }
  return table;
}

ResultTable AcceleratorsTable(const std::vector<FedAccelerators>& fed) {
  using Fed = FedAccelerators;
  const Columns<Fed> columns = {
      {TextColumn("workload", "Workload", "Of MLPerf Storage, with H100s"),
       [](const Fed& row) { return std::string(row.workload); }},
      {RateColumn("needed_bytes_per_s", "Needed/s", "By one accelerator that never waits"),
       [](const Fed& row) { return Whole(row.needed_bytes_per_s); }},
      {RateColumn("measured_bytes_per_s", "Measured/s", "Of the pattern that reads alike, cold"),
       [](const Fed& row) { return row.measured ? Whole(row.measured->bytes_per_s) : Cell{}; }},
      {RealColumn("accelerators", "Accelerators", "That the path feeds"),
       [](const Fed& row) { return row.measured ? Cell{row.accelerators} : Cell{}; }},
      {TextColumn("reads", "Reads", "How the workload reads"),
       [](const Fed& row) { return std::string(row.reads); }},
  };
  return TableOf("probe_storage_accelerators", "Accelerators fed", columns, fed);
}

}  // namespace batchlight::probe
