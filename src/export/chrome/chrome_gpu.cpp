// Work of the GPUs in a chrome trace: kernels, copies, sets, graphs, waits, and the arrows to them.
#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "analysis/cuda/gpu_event_names.h"
#include "analysis/cuda/kernel_class.h"
#include "analysis/cuda/occupancy.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "export/chrome/chrome_trace.h"
#include "export/event_records.h"

namespace batchlight {
namespace {

constexpr int64_t kNetworkPid = -2;  // no process and no GPU; Kineto has -1 for overhead

class GpuEvents {
 public:
  explicit GpuEvents(ChromeTrace& trace) : trace_(trace), store_(trace.store), file_(trace.file) {}

  Status Write() {
    RETURN_IF_ERROR(Kernels());
    RETURN_IF_ERROR(Copies());
    RETURN_IF_ERROR(Sets());
    RETURN_IF_ERROR(Graphs());
    RETURN_IF_ERROR(Waits());
    RETURN_IF_ERROR(WriteAnnotationsOnGpu(trace_));
    return Network();
  }

 private:
  // For each selected row: begin(row) begins the event and writes its own members.
  // Rows for which it returns false are left out.
  template <typename Table, typename Begin>
  Status Rows(const Table& table, const Begin& begin) {
    if (!trace_.selection.HasTable(Table::kName)) return {};
    for (size_t row = 0; row < table.size(); ++row) {
      if (!SelectsRow(trace_.selection, table, row)) continue;
      if constexpr (std::is_same_v<decltype(begin(row)), bool>) {
        if (!begin(row)) continue;
      } else {
        begin(row);
      }
      RETURN_IF_ERROR(file_.End());
      LaunchArrow(table, row);
    }
    return {};
  }

  int64_t PidOf(ProcessId process, uint32_t device) {
    if (process != last_process_ || device != last_device_) {
      last_process_ = process;
      last_device_ = device;
      last_pid_ = trace_.gpus.PidOf(process, device);
    }
    return last_pid_;
  }

  // Begins the event and writes the members that all events have.
  template <typename Table>
  void BeginWork(const Table& table, size_t row, std::string_view category, std::string_view name) {
    file_.Begin(category, name, PidOf(table.process[row], table.device[row]), table.stream[row],
                table.start_ns[row], table.end_ns[row]);
    const ApiCallId call = table.api_call[row];
    if (!call.IsNone() && trace_.operator_around[call.row()] != UINT32_MAX) {
      file_.Arg("External id") << trace_.operator_around[call.row()] + 1;
    }
    file_.Arg("device") << table.device[row];
    file_.Arg("context") << table.context[row];
    file_.Arg("stream") << table.stream[row];
    file_.Arg("correlation") << table.correlation[row];
  }

  template <typename Table>
  void LaunchArrow(const Table& table, size_t row) {
    if constexpr (requires { table.device; }) {
      const ApiCallsTable& calls = store_.api_calls;
      const ApiCallId call = table.api_call[row];
      if (call.IsNone() || !trace_.selection.HasTable(calls.kName)) return;
      const size_t api = call.row();
      if (!SelectsRow(trace_.selection, calls, api)) return;
      // Correlation ids are unique per process only.
      uint64_t id = table.correlation[row];
      if (trace_.gpus.of_several_processes()) id |= (uint64_t{table.process[row].value} + 1) << 32;
      const ThreadId thread = calls.thread[api];
      file_.Arrow('s', "ac2g", id, trace_.PidOf(thread), trace_.Tid(thread), calls.start_ns[api]);
      file_.Arrow('f', "ac2g", id, PidOf(table.process[row], table.device[row]), table.stream[row],
                  table.start_ns[row]);
    }
  }

  Status Kernels() {
    const KernelsTable& kernels = store_.kernels;
    const KernelLaunchesTable& launches = store_.kernel_launches;
    Attribution work;
    if (!trace_.nccl.calls.empty()) work = AttributeWork(store_, BackwardLinks(store_));
    return Rows(kernels, [&](size_t row) {
      BeginWork(kernels, row, "kernel", file_.Escaped(kernels.demangled_name[row]));
      const size_t launch = kernels.launch[row].row();
      if (launch < launches.size()) {
        file_.Arg("registers per thread") << launches.registers_per_thread[launch];
        file_.Arg("shared memory")
            << launches.static_shared_bytes[launch] + launches.dynamic_shared_bytes[launch];
        file_.Arg("grid") << '[' << launches.grid_x[launch] << ", " << launches.grid_y[launch]
                          << ", " << launches.grid_z[launch] << ']';
        file_.Arg("block") << '[' << launches.block_x[launch] << ", " << launches.block_y[launch]
                           << ", " << launches.block_z[launch] << ']';
        Occupation(launches.Row(launch), kernels.device[row]);
      }
      // The field is signed where it is read (yajl).
      file_.Arg("graph node id") << static_cast<int64_t>(kernels.graph_node[row] & INT64_MAX);
      if (row >= work.kernels.size() || work.kernels[row].range.IsNone()) return;
      const uint32_t call = trace_.nccl.call_of_range[work.kernels[row].range.row()];
      if (call == NcclCalls::kNone) return;
      if (!IsNcclKernel(store_.Text(kernels.short_name[row]))) return;
      AddCollectiveArgsOfKernel(trace_, trace_.nccl.calls[call], row);
    });
  }

  // As Kineto's DeviceProperties.cpp works it out.
  void Occupation(const KernelLaunchesRow& launch, uint32_t device) {
    const auto& devices = store_.gpus.device;
    const auto found = std::find(devices.begin(), devices.end(), device);
    if (found == devices.end()) return;
    const GpusRow gpu = store_.gpus.Row(static_cast<size_t>(found - devices.begin()));
    if (gpu.sm_count == 0 || gpu.warp_threads == 0) return;
    const double blocks = double(launch.grid_x) * launch.grid_y * launch.grid_z / gpu.sm_count;
    const double threads = double(launch.block_x) * launch.block_y * launch.block_z;
    SixDecimals("blocks per SM", blocks);
    SixDecimals("warps per SM", blocks * threads / gpu.warp_threads);
    const Occupancy most = TheoreticalOccupancy(launch, gpu);
    if (most.blocks_per_sm == 0) return;
    const double resident = std::min<double>(blocks, most.blocks_per_sm);
    file_.Arg("est. achieved occupancy %")
        << static_cast<int64_t>(0.5 + 100 * resident * threads / gpu.max_threads_per_sm);
  }

  void SixDecimals(std::string_view key, double number) {
    char text[64];
    const int length = std::snprintf(text, sizeof text, "%.6f", number);
    file_.Arg(key) << std::string_view(text, static_cast<size_t>(length));
  }

  Status Copies() {
    const MemcpysTable& copies = store_.memcpys;
    return Rows(copies, [&](size_t row) {
      BeginWork(
          copies, row, "gpu_memcpy",
          MemcpyName(copies.copy_kind[row], copies.source_kind[row], copies.destination_kind[row]));
      Bytes(copies, row);
    });
  }

  Status Sets() {
    const MemsetsTable& sets = store_.memsets;
    return Rows(sets, [&](size_t row) {
      BeginWork(sets, row, "gpu_memset", MemsetName(sets.memory_kind[row]));
      Bytes(sets, row);
    });
  }

  template <typename Table>
  void Bytes(const Table& table, size_t row) {
    file_.Arg("bytes") << static_cast<int64_t>(table.bytes[row] & INT64_MAX);
    const int64_t ns = table.end_ns[row] - table.start_ns[row];
    if (ns <= 0) return;
    const double milli = static_cast<double>(table.bytes[row]) / static_cast<double>(ns) * 1000;
    file_.Arg("memory bandwidth (GB/s)");
    file_.out().Microseconds(static_cast<int64_t>(std::min(milli, 1e15)));  // 3 decimals
  }

  // A graph that was recorded as a whole.
  Status Graphs() {
    const GraphLaunchesTable& graphs = store_.graph_launches;
    return Rows(graphs, [&](size_t row) {
      BeginWork(graphs, row, "cuda_graph", "CUDA graph " + std::to_string(graphs.graph[row]));
      file_.Arg("graph id") << graphs.graph[row];
    });
  }

  Status Waits() {
    const SynchronizationsTable& waits = store_.synchronizations;
    const EventRecords records(store_);
    return Rows(waits, [&](size_t row) {
      // Readers look for the work that a stream did before and after it waited.
      const bool of_stream = waits.sync_type[row] == SyncType::kStreamWaitsEvent ||
                             waits.sync_type[row] == SyncType::kStream;
      if (of_stream && waits.stream[row] == UINT32_MAX) return false;
      const std::string name(ShortName(waits.sync_type[row]));
      const auto stream = static_cast<int32_t>(waits.stream[row]);  // -1: of no stream
      const uint32_t device = DeviceOf(waits.process[row], waits.context[row]);
      file_.Begin("cuda_sync", name, PidOf(waits.process[row], device), stream, waits.start_ns[row],
                  waits.end_ns[row]);
      file_.TextArg("cuda_sync_kind", name);
      if (waits.event[row] != UINT32_MAX) {
        // Kineto writes -1 too where the record of the event is not known.
        const uint32_t record = records.Before(row);
        const bool known = record != EventRecords::kNone;
        const auto source = known ? static_cast<int32_t>(store_.cuda_events.stream[record]) : -1;
        file_.Arg("wait_on_stream") << source;
        file_.Arg("wait_on_cuda_event_record_corr_id")
            << (known ? int64_t{store_.cuda_events.correlation[record]} : -1);
        file_.Arg("wait_on_cuda_event_id") << waits.event[row];
      }
      file_.Arg("stream") << stream;
      file_.Arg("correlation") << waits.correlation[row];
      file_.Arg("device") << device;
      file_.Arg("context") << waits.context[row];
      return true;
    });
  }

  uint32_t DeviceOf(ProcessId process, uint32_t context) const {
    const GpuContextsTable& contexts = store_.gpu_contexts;
    for (size_t row = 0; row < contexts.size(); ++row) {
      if (contexts.process[row] == process && contexts.context[row] == context) {
        return contexts.device[row];
      }
    }
    return 0;
  }

  // Counters of network devices belong to the machine, not to a process.
  Status Network() {
    const NetworkSamplesTable& samples = store_.network_samples;
    if (!trace_.selection.HasTable(samples.kName) || samples.size() == 0) return {};
    file_.Metadata("process_name", kNetworkPid, 0, "name", "network");
    for (size_t row = 0; row < samples.size(); ++row) {
      if (!SelectsRow(trace_.selection, samples, row)) continue;
      const std::string& device = file_.Escaped(samples.device[row]);
      const std::string& metric = file_.Escaped(samples.metric[row]);
      file_.Counter((device.empty() ? "switch" : device) + " " + metric, kNetworkPid, "value",
                    samples.value[row], samples.start_ns[row]);
      RETURN_IF_ERROR(file_.out().FlushIfLarge());
    }
    return {};
  }

  ChromeTrace& trace_;
  const Store& store_;
  ChromeFile& file_;
  ProcessId last_process_;
  uint32_t last_device_ = UINT32_MAX;
  int64_t last_pid_ = 0;
};

}  // namespace

Status WriteChromeGpu(ChromeTrace& trace) { return GpuEvents(trace).Write(); }

}  // namespace batchlight
