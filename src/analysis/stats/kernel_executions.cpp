// cuda_kern_exec_sum and cuda_kern_exec_trace: the launch call, the wait in the queue and the
// execution of each kernel. Queue time runs from the end of the call to the start of the kernel
// and exists only when that is positive.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/stats/duration_summary.h"
#include "analysis/stats/event_names.h"
#include "analysis/stats/range_finder.h"
#include "analysis/stats/range_stacks.h"
#include "analysis/stats/report_functions.h"

namespace batchlight::stats {
namespace {

struct Execution {
  int64_t api_start, api_end, kernel_start, kernel_end;

  int64_t Api() const { return api_end - api_start; }
  int64_t Queue() const { return kernel_start - api_end; }
  int64_t Kernel() const { return kernel_end - kernel_start; }
  int64_t Total() const { return std::max(api_end, kernel_end) - api_start; }
};

Execution ExecutionOf(const Store& store, const GpuWork& work) {
  const size_t call = work.call.row();
  return {store.api_calls.start_ns[call], store.api_calls.end_ns[call], work.start_ns, work.end_ns};
}

// Kernels with their calls, and the name shown for each.
class LaunchedKernels {
 public:
  explicit LaunchedKernels(const Query& query)
      : query_(query), naming_(KernelNamingOf(query)), work_(KernelsWithEveryCall(query)) {
    if (query.Has("nvtx-name")) ranges_ = InnermostRanges(query);
  }
  std::vector<GpuWork>& work() { return work_; }
  const std::vector<GpuWork>& work() const { return work_; }
  std::string Name(const GpuWork& work) const {
    std::string name;
    if (!ranges_.empty() && ranges_[work.row] != UINT32_MAX) {
      name = RangeText(query_.store, ranges_[work.row]);
      name += '/';
    }
    name += query_.store.Text(KernelName(query_.store, work.row, naming_));
    return name;
  }
  std::string Api(const GpuWork& work) const {
    return std::string(ApiName(query_.store.Text(query_.store.api_calls.name[work.call.row()])));
  }

 private:
  Query query_;
  KernelNaming naming_;
  std::vector<GpuWork> work_;
  std::vector<uint32_t> ranges_;
};

void AppendTimes(std::vector<int64_t>& values, std::vector<Cell>& cells) {
  if (values.empty()) {
    cells.insert(cells.end(), 4, Cell());
    cells.emplace_back(0.0);  // nsys has a deviation even where there is nothing to deviate
    return;
  }
  const Summary summary = Summarize(values);
  cells.insert(cells.end(),
               {summary.mean, summary.median, summary.min, summary.max, summary.deviation});
}

}  // namespace

Result<RowSource> CudaKernExecSum(const Query& query) {
  const Store& store = query.store;
  const LaunchedKernels launched(query);
  struct Group {
    std::vector<int64_t> total, api, queue, kernel;
  };
  std::map<std::tuple<ThreadId, uint32_t, std::string, std::string>, Group> groups;
  for (const GpuWork& work : launched.work()) {
    const Execution execution = ExecutionOf(store, work);
    Group& group = groups[{store.api_calls.thread[work.call.row()], store.kernels.device[work.row],
                           launched.Api(work), launched.Name(work)}];
    group.total.push_back(execution.Total());
    group.api.push_back(execution.Api());
    group.kernel.push_back(execution.Kernel());
    if (execution.Queue() > 0) group.queue.push_back(execution.Queue());
  }
  ResultTable table;
  table.columns = {IntegerColumn("PID"), IntegerColumn("TID"), IntegerColumn("DevId"),
                   IntegerColumn("Count"), IntegerColumn("QCount")};
  for (const std::string phase : {"T", "A", "Q", "K"}) {
    table.columns.push_back(MeanTimeColumn(phase + "Avg"));
    table.columns.push_back(MeanTimeColumn(phase + "Med"));
    table.columns.push_back(TimeColumn(phase + "Min"));
    table.columns.push_back(TimeColumn(phase + "Max"));
    table.columns.push_back(MeanTimeColumn(phase + "StdDev"));
  }
  table.columns.push_back(TextColumn("API Name"));
  table.columns.push_back(TextColumn("Kernel Name"));
  for (auto& [key, group] : groups) {
    const auto& [thread, device, api, kernel] = key;
    std::vector<Cell>& cells = table.rows.emplace_back(2);
    SetThread(store, thread, cells[0], cells[1]);
    cells.emplace_back(int64_t{device});
    cells.emplace_back(static_cast<int64_t>(group.total.size()));
    cells.emplace_back(static_cast<int64_t>(group.queue.size()));
    AppendTimes(group.total, cells);
    AppendTimes(group.api, cells);
    AppendTimes(group.queue, cells);
    AppendTimes(group.kernel, cells);
    cells.emplace_back(api);
    cells.emplace_back(kernel);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<double>(a[5]) > std::get<double>(b[5]);
  });
  return KeepRows(std::move(table));
}

Result<RowSource> CudaKernExecTrace(const Query& query) {
  LaunchedKernels launched(query);
  std::stable_sort(launched.work().begin(), launched.work().end(),
                   [&calls = query.store.api_calls](const GpuWork& a, const GpuWork& b) {
                     return calls.start_ns[a.call.row()] < calls.start_ns[b.call.row()];
                   });
  RowSource source;
  source.columns = {TimestampColumn("API Start"),
                    TimeColumn("API Dur"),
                    TimestampColumn("Queue Start"),
                    TimeColumn("Queue Dur"),
                    TimestampColumn("Kernel Start"),
                    TimeColumn("Kernel Dur"),
                    TimeColumn("Total Dur"),
                    IntegerColumn("PID"),
                    IntegerColumn("TID"),
                    IntegerColumn("DevId"),
                    TextColumn("API Function"),
                    TextColumn("GridXYZ"),
                    TextColumn("BlockXYZ"),
                    TextColumn("Kernel Name")};
  source.row_count = launched.work().size();
  source.fill = [&store = query.store, launched = std::move(launched)](size_t index,
                                                                       std::vector<Cell>& cells) {
    const GpuWork& work = launched.work()[index];
    const Execution execution = ExecutionOf(store, work);
    const KernelLaunchesRow launch = LaunchOf(store, work.row);
    const bool queued = execution.Queue() > 0;
    cells[0] = execution.api_start;
    cells[1] = execution.Api();
    cells[2] = queued ? Cell(execution.api_end) : Cell();
    cells[3] = queued ? Cell(execution.Queue()) : Cell();
    cells[4] = execution.kernel_start;
    cells[5] = execution.Kernel();
    cells[6] = execution.Total();
    SetThread(store, store.api_calls.thread[work.call.row()], cells[7], cells[8]);
    cells[9] = int64_t{store.kernels.device[work.row]};
    cells[10] = launched.Api(work);
    cells[11] = Dimensions(launch.grid_x, launch.grid_y, launch.grid_z);
    cells[12] = Dimensions(launch.block_x, launch.block_y, launch.block_z);
    cells[13] = launched.Name(work);
  };
  return source;
}

}  // namespace batchlight::stats
