// cuda_api_trace and cuda_gpu_trace: one line per call or operation, by start.
#include <algorithm>
#include <numeric>

#include "analysis/stats/cells.h"
#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

struct Operation {
  GpuWork::Kind kind;
  uint32_t row;
  int64_t start_ns;
};

template <typename Table>
void AddOperations(const Query& query, const Table& table, GpuWork::Kind kind,
                   std::vector<Operation>& operations) {
  for (size_t row = 0; row < table.size(); ++row) {
    if (!query.Keep(table.start_ns[row], table.end_ns[row])) continue;
    operations.push_back({kind, static_cast<uint32_t>(row), table.start_ns[row]});
  }
}

std::string DeviceName(const Store& store, uint32_t device) {
  std::string name;
  for (size_t row = 0; row < store.gpus.size(); ++row) {
    if (store.gpus.device[row] == device) {
      name = store.Text(store.gpus.name[row]);
      break;
    }
  }
  return name + " (" + std::to_string(device) + ')';
}

// Bytes per second as nsys works it out: a whole number of operations per second times the bytes.
// That is off by less than 0.1 % up to a millisecond and says 0 from one second on, where we do
// not follow it.
Cell Throughput(uint64_t bytes, int64_t duration, bool nsys_compat) {
  if (duration <= 0) return Cell();
  if (duration > 1'000'000'000 && !nsys_compat) {
    return static_cast<double>(bytes) * 1e9 / static_cast<double>(duration);
  }
  const int64_t per_second = 1'000'000'000 / duration;
  return static_cast<double>(per_second) * static_cast<double>(bytes);
}

// The cells that copies and sets share.
template <typename Table>
void FillCommon(const Store& store, const Table& table, size_t row, std::vector<Cell>& cells) {
  cells[0] = table.start_ns[row];
  cells[1] = table.end_ns[row] - table.start_ns[row];
  cells[2] = int64_t{table.correlation[row]};
  cells[16] = DeviceName(store, table.device[row]);
  cells[17] = int64_t{table.context[row]};
  cells[19] = int64_t{table.stream[row]};
}

class GpuTraceRows {
 public:
  explicit GpuTraceRows(const Query& query) : query_(query), naming_(KernelNamingOf(query)) {
    if (query.Has("nvtx-name")) ranges_ = InnermostRanges(query);
    AddOperations(query, query.store.kernels, GpuWork::Kind::kKernel, operations_);
    AddOperations(query, query.store.memcpys, GpuWork::Kind::kMemcpy, operations_);
    AddOperations(query, query.store.memsets, GpuWork::Kind::kMemset, operations_);
    std::stable_sort(operations_.begin(), operations_.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }
  size_t size() const { return operations_.size(); }

  void Fill(size_t index, std::vector<Cell>& cells) const {
    std::fill(cells.begin(), cells.end(), Cell());
    const Operation& operation = operations_[index];
    switch (operation.kind) {
      case GpuWork::Kind::kKernel:
        FillKernel(operation.row, cells);
        break;
      case GpuWork::Kind::kMemcpy:
        FillCopy(operation.row, cells);
        break;
      default:
        FillSet(operation.row, cells);
        break;
    }
  }

 private:
  void FillKernel(size_t row, std::vector<Cell>& cells) const {
    const Store& store = query_.store;
    const KernelLaunchesRow launch = LaunchOf(store, row);
    FillCommon(store, store.kernels, row, cells);
    cells[3] = int64_t{launch.grid_x};
    cells[4] = int64_t{launch.grid_y};
    cells[5] = int64_t{launch.grid_z};
    cells[6] = int64_t{launch.block_x};
    cells[7] = int64_t{launch.block_y};
    cells[8] = int64_t{launch.block_z};
    cells[9] = int64_t{launch.registers_per_thread};
    cells[10] = int64_t{launch.static_shared_bytes};
    cells[11] = int64_t{launch.dynamic_shared_bytes};
    cells[18] = GreenContextCell(launch.green_context);
    std::string name;
    if (!ranges_.empty() && ranges_[row] != UINT32_MAX) {
      name = RangeText(store, ranges_[row]);
      name += '/';
    }
    name += store.Text(KernelName(store, row, naming_));
    cells[20] = std::move(name);
  }

  void FillCopy(size_t row, std::vector<Cell>& cells) const {
    const MemcpysTable& copies = query_.store.memcpys;
    FillCommon(query_.store, copies, row, cells);
    cells[12] = static_cast<int64_t>(copies.bytes[row]);
    cells[13] = Throughput(copies.bytes[row], copies.end_ns[row] - copies.start_ns[row],
                           query_.nsys_compat);
    cells[14] = std::string(Label(copies.source_kind[row]));
    cells[15] = std::string(Label(copies.destination_kind[row]));
    cells[18] = GreenContextCell(copies.green_context[row]);
    if (IsUnified(copies.copy_kind[row])) cells[17] = cells[19] = Cell();
    cells[20] = CopyName(copies.copy_kind[row]);
  }

  void FillSet(size_t row, std::vector<Cell>& cells) const {
    const MemsetsTable& sets = query_.store.memsets;
    FillCommon(query_.store, sets, row, cells);
    cells[12] = static_cast<int64_t>(sets.bytes[row]);
    cells[13] =
        Throughput(sets.bytes[row], sets.end_ns[row] - sets.start_ns[row], query_.nsys_compat);
    cells[14] = std::string(Label(sets.memory_kind[row]));
    cells[18] = GreenContextCell(sets.green_context[row]);
    cells[20] = std::string(kMemsetName);
  }

  Query query_;
  KernelNaming naming_;
  std::vector<uint32_t> ranges_;
  std::vector<Operation> operations_;
};

}  // namespace

Result<RowSource> CudaGpuTrace(const Query& query) {
  RowSource source;
  source.columns = {TimestampColumn("Start"),  TimeColumn("Duration"),
                    IntegerColumn("CorrId"),   IntegerColumn("GrdX"),
                    IntegerColumn("GrdY"),     IntegerColumn("GrdZ"),
                    IntegerColumn("BlkX"),     IntegerColumn("BlkY"),
                    IntegerColumn("BlkZ"),     IntegerColumn("Reg/Trd"),
                    BytesColumn("StcSMem"),    BytesColumn("DymSMem"),
                    BytesColumn("Bytes"),      {"Throughput", CellType::kReal, Unit::kRate, 3, {}},
                    TextColumn("SrcMemKd"),    TextColumn("DstMemKd"),
                    TextColumn("Device"),      IntegerColumn("Ctx"),
                    IntegerColumn("GreenCtx"), IntegerColumn("Strm"),
                    TextColumn("Name")};
  GpuTraceRows rows(query);
  source.row_count = rows.size();
  source.fill = [rows = std::move(rows)](size_t index, std::vector<Cell>& cells) {
    rows.Fill(index, cells);
  };
  return source;
}

Result<RowSource> CudaApiTrace(const Query& query) {
  const ApiCallsTable& calls = query.store.api_calls;
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (query.Keep(calls.start_ns[row], calls.end_ns[row])) {
      rows.push_back(static_cast<uint32_t>(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(calls.start_ns[a], calls.correlation[a]) <
           std::pair(calls.start_ns[b], calls.correlation[b]);
  });
  RowSource source;
  source.columns = {TimestampColumn("Start"), TimeColumn("Duration"),  TextColumn("Name"),
                    IntegerColumn("Result"),  IntegerColumn("CorrID"), IntegerColumn("Pid"),
                    IntegerColumn("Tid"),     IntegerColumn("T-Pri"),  TextColumn("Thread Name")};
  source.row_count = rows.size();
  source.fill = [&store = query.store, rows = std::move(rows)](size_t index,
                                                               std::vector<Cell>& cells) {
    const ApiCallsRow call = store.api_calls.Row(rows[index]);
    cells[0] = call.start_ns;
    cells[1] = call.end_ns - call.start_ns;
    cells[2] = std::string(ApiName(store.Text(call.name)));
    cells[3] = int64_t{call.result};
    cells[4] = int64_t{call.correlation};
    SetThread(store, call.thread, cells[5], cells[6]);
    cells[7] = Cell();
    cells[8] = Cell();
    if (!call.thread.IsNone()) {
      const size_t thread = call.thread.row();
      if (store.threads.priority[thread] != 0) cells[7] = int64_t{store.threads.priority[thread]};
      cells[8] = std::string(store.Text(store.threads.name[thread]));
    }
  };
  return source;
}

}  // namespace batchlight::stats
