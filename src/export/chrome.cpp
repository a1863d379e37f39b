// -t chrome: the trace format of chrome://tracing, with the fields that torch.profiler writes, so
// that tools for its traces (Holistic Trace Analysis) read it unmodified.
//
// Source of the fields: Kineto's output_json.cpp. Times are microseconds since baseTimeNanoseconds,
// which is rounded down to three months, so that the traces of all ranks share it. Steps that the
// user did not mark are written as ProfilerStep#N.
#include <map>

#include "analysis/backward_links.h"
#include "analysis/closed_end.h"
#include "analysis/steps.h"
#include "base/json_text.h"
#include "export/exporter.h"
#include "export/gpu_event_names.h"
#include "export/store_rows.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

constexpr int64_t kBaseGridNs = int64_t{7889238} * 1000000000;  // Kineto's three months

// cudaLaunchKernel_ptsz_v7000 as profilers print it: cudaLaunchKernel.
std::string_view ApiName(std::string_view name) {
  const size_t version = name.rfind("_v");
  if (version != name.npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == name.npos) {
    name = name.substr(0, version);
  }
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

class ChromeTrace {
 public:
  ChromeTrace(const Store& store, const ExportOptions& options, TextBuffer& out)
      : store_(store),
        selection_(options.selection),
        steps_(options.steps),
        out_(out),
        escaped_(store.strings.size()) {
    const int64_t begin_ns = store.session_start_utc_ns;
    base_ns_ = begin_ns - begin_ns % kBaseGridNs;
    offset_ns_ = begin_ns - base_ns_ + selection_.shift_ns();
  }

  Status Print() {
    Head();
    Names();
    RETURN_IF_ERROR(Operators());
    RETURN_IF_ERROR(Annotations());
    RETURN_IF_ERROR(StartEndRanges());
    RETURN_IF_ERROR(Modules());
    RETURN_IF_ERROR(ApiCalls());
    RETURN_IF_ERROR(Kernels());
    RETURN_IF_ERROR(Copies());
    RETURN_IF_ERROR(Waits());
    RETURN_IF_ERROR(BackwardArrows());
    out_ << "\n  ],\n  \"traceName\": \"batchlight\"\n}\n";
    return {};
  }

  uint64_t events() const { return events_; }

 private:
  // Each name is escaped once.
  const std::string& Escaped(StringId id) {
    static const std::string kNone;
    if (id.IsNone()) return kNone;
    std::string& text = escaped_[id.row()];
    if (text.empty()) AppendJsonEscaped(store_.Text(id), text);
    return text;
  }

  void Separate() {
    out_ << (first_ ? "\n  {" : ",\n  {");
    first_ = false;
  }

  // Up to `args`, whose members the caller adds, and End().
  void Begin(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
             int64_t start_ns, int64_t end_ns) {
    Separate();
    ++events_;
    out_ << "\"ph\": \"X\", \"cat\": \"" << category << "\", \"name\": \"" << name
         << "\", \"pid\": " << pid << ", \"tid\": " << tid << ", \"ts\": ";
    out_.Microseconds(start_ns + offset_ns_);
    out_ << ", \"dur\": ";
    out_.Microseconds(ClosedEnd(store_, start_ns, end_ns) - start_ns);
    out_ << ", \"args\": {";
    first_arg_ = true;
  }
  void End() { out_ << "}}"; }

  TextBuffer& Arg(std::string_view key) {
    out_ << (first_arg_ ? "\"" : ", \"") << key << "\": ";
    first_arg_ = false;
    return out_;
  }

  void Arrow(char phase, std::string_view category, uint64_t id, int64_t pid, int64_t tid,
             int64_t at_ns) {
    Separate();
    out_ << "\"ph\": \"" << phase << "\", \"id\": " << id << ", \"pid\": " << pid
         << ", \"tid\": " << tid << ", \"ts\": ";
    out_.Microseconds(at_ns + offset_ns_);
    out_ << ", \"cat\": \"" << category << "\", \"name\": \"" << category << '"';
    if (phase == 'f') out_ << ", \"bp\": \"e\"";
    out_ << '}';
  }

  int64_t Pid(ProcessId process) const {
    return process.IsNone() ? 0 : store_.processes.pid[process.row()];
  }
  int64_t PidOf(ThreadId thread) const { return Pid(store_.ProcessOf(thread)); }
  int64_t Tid(ThreadId thread) const {
    return thread.IsNone() ? 0 : store_.threads.tid[thread.row()];
  }

  void Head() {
    int32_t rank = 0;
    for (const int32_t found : store_.processes.rank) {
      if (found >= 0) rank = found;
    }
    const std::string_view world = store_.Property("env.WORLD_SIZE");
    out_ << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
    const GpusTable& gpus = store_.gpus;
    for (size_t row = 0; row < gpus.size(); ++row) {
      out_ << (row > 0 ? ",\n" : "\n") << "    {\"id\": " << gpus.device[row] << ", \"name\": \""
           << Escaped(gpus.name[row]) << "\", \"totalGlobalMem\": " << gpus.memory_bytes[row]
           << ", \"computeMajor\": " << gpus.compute_major[row]
           << ", \"computeMinor\": " << gpus.compute_minor[row]
           << ", \"maxThreadsPerMultiprocessor\": " << gpus.max_threads_per_sm[row]
           << ", \"regsPerMultiprocessor\": " << gpus.max_registers_per_sm[row]
           << ", \"regsPerBlock\": " << gpus.max_registers_per_block[row]
           << ", \"sharedMemPerMultiprocessor\": " << gpus.max_shared_bytes_per_sm[row]
           << ", \"sharedMemPerBlockOptin\": " << gpus.max_shared_bytes_per_block[row]
           << ", \"warpSize\": " << gpus.warp_threads[row] << ", \"numSms\": " << gpus.sm_count[row]
           << '}';
    }
    const bool is_number =
        !world.empty() && world.find_first_not_of("0123456789") == world.npos && world.size() < 9;
    out_ << "\n  ],\n  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " << rank
         << ", \"world_size\": " << (is_number ? world : std::string_view("1"))
         << "},\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": " << base_ns_
         << ",\n  \"traceEvents\": [";
  }

  void Metadata(std::string_view what, int64_t pid, int64_t tid, std::string_view key,
                std::string_view escaped) {
    Separate();
    out_ << "\"ph\": \"M\", \"name\": \"" << what << "\", \"pid\": " << pid << ", \"tid\": " << tid
         << ", \"ts\": 0, \"args\": {\"" << key << "\": \"" << escaped << "\"}}";
  }

  void Names() {
    for (size_t row = 0; row < store_.processes.size(); ++row) {
      const int64_t pid = store_.processes.pid[row];
      Metadata("process_name", pid, 0, "name", Escaped(store_.processes.name[row]));
      Metadata("process_labels", pid, 0, "labels", "CPU");
    }
    for (size_t row = 0; row < store_.threads.size(); ++row) {
      const std::string tid = std::to_string(store_.threads.tid[row]);
      const std::string& name = Escaped(store_.threads.name[row]);
      Metadata("thread_name", PidOf(ThreadId::At(row)), store_.threads.tid[row], "name",
               name.empty() ? "thread " + tid : "thread " + tid + " (" + name + ")");
    }
    std::map<uint32_t, std::map<uint32_t, bool>> streams;  // by device
    const auto see = [&](const auto& table) {
      for (size_t row = 0; row < table.size(); ++row) {
        streams[table.device[row]][table.stream[row]] = true;
      }
    };
    see(store_.kernels);
    see(store_.memcpys);
    see(store_.memsets);
    for (const auto& [device, seen] : streams) {
      Metadata("process_name", device, 0, "name", "python");
      Metadata("process_labels", device, 0, "labels", "GPU " + std::to_string(device));
      for (const auto& [stream, unused] : seen) {
        Metadata("thread_name", device, stream, "name", "stream " + std::to_string(stream));
      }
    }
  }

  Status Operators() {
    const OperatorCallsTable& calls = store_.operator_calls;
    if (!selection_.HasTable(calls.kName)) return {};
    for (size_t row = 0; row < calls.size(); ++row) {
      if (!SelectsRow(selection_, calls, row)) continue;
      const ThreadId thread = calls.thread[row];
      Begin("cpu_op", Escaped(calls.name[row]), PidOf(thread), Tid(thread), calls.start_ns[row],
            calls.end_ns[row]);
      Arg("External id") << row + 1;
      Arg("Ev Idx") << row;
      if (!calls.shapes[row].IsNone()) Arg("Input Dims") << store_.Text(calls.shapes[row]);
      if (calls.sequence[row] >= 0) {
        Arg("Sequence number") << calls.sequence[row];
        Arg("Fwd thread id") << calls.forward_thread[row];
      }
      End();
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  Status Annotations() {
    bool has_steps = false;
    const auto print = [&](const auto& table, const std::vector<StringId>& names) -> Status {
      if (!selection_.HasTable(table.kName)) return {};
      for (size_t row = 0; row < table.size(); ++row) {
        if (!SelectsRow(selection_, table, row)) continue;
        if constexpr (requires { table.style; }) {
          if (table.style[row] == static_cast<uint8_t>(NvtxStyle::kStartEnd)) continue;
        }
        const ThreadId thread = table.thread[row];
        has_steps = has_steps || store_.Text(names[row]).starts_with("ProfilerStep#");
        Begin("user_annotation", Escaped(names[row]), PidOf(thread), Tid(thread),
              table.start_ns[row], table.end_ns[row]);
        End();
        RETURN_IF_ERROR(out_.FlushIfLarge());
      }
      return {};
    };
    RETURN_IF_ERROR(print(store_.nvtx_ranges, store_.nvtx_ranges.message));
    RETURN_IF_ERROR(print(store_.phase_calls, store_.phase_calls.name));
    if (!has_steps) Steps();
    return {};
  }

  // Start/end ranges need not nest: asynchronous events. One that is still open has no end.
  Status StartEndRanges() {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    if (!selection_.HasTable(ranges.kName)) return {};
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (ranges.style[row] != static_cast<uint8_t>(NvtxStyle::kStartEnd)) continue;
      if (!SelectsRow(selection_, ranges, row)) continue;
      ++events_;
      const std::string& name = Escaped(ranges.message[row]);
      Async('b', row, name, ranges.thread[row], ranges.start_ns[row]);
      if (ranges.end_ns[row] != kOpenEnd) {
        Async('e', row, name, ranges.end_thread[row], ranges.end_ns[row]);
      }
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  void Async(char phase, size_t id, std::string_view name, ThreadId thread, int64_t at_ns) {
    Separate();
    out_ << "\"ph\": \"" << phase << "\", \"cat\": \"nvtx_range\", \"name\": \"" << name
         << "\", \"id\": " << id + 1 << ", \"pid\": " << PidOf(thread)
         << ", \"tid\": " << Tid(thread) << ", \"ts\": ";
    out_.Microseconds(at_ns + offset_ns_);
    out_ << '}';
  }

  void Steps() {
    const StepSet steps = FindSteps(store_, steps_);
    for (const ProcessSteps& process : steps.processes) {
      if (process.thread.IsNone()) continue;
      for (const Step& step : process.steps) {
        if (!selection_.HasTime(step.start_ns, step.end_ns)) continue;
        Begin("user_annotation", "ProfilerStep#" + std::to_string(step.number),
              Pid(process.process), Tid(process.thread), step.start_ns, step.end_ns);
        End();
      }
    }
  }

  Status Modules() {
    const ModuleCallsTable& calls = store_.module_calls;
    if (!selection_.HasTable(calls.kName)) return {};
    for (size_t row = 0; row < calls.size(); ++row) {
      if (!SelectsRow(selection_, calls, row)) continue;
      const ThreadId thread = calls.thread[row];
      Begin("python_function", "nn.Module: " + Escaped(calls.path[row]), PidOf(thread), Tid(thread),
            calls.start_ns[row], calls.end_ns[row]);
      Arg("Python id") << row + 1;
      const bool is_root = calls.parent[row].IsNone();
      Arg("Python parent id") << (is_root ? 0 : calls.parent[row].row() + 1);
      Arg("Module class") << '"' << Escaped(calls.class_name[row]) << '"';
      End();
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  // The innermost operator around each call, both ordered by thread and start.
  std::vector<uint32_t> OperatorsAroundApiCalls() const {
    const OperatorCallsTable& operators = store_.operator_calls;
    const ApiCallsTable& calls = store_.api_calls;
    std::vector<uint32_t> around(calls.size(), UINT32_MAX);
    std::vector<uint32_t> open;
    size_t next = 0;
    for (size_t row = 0; row < calls.size(); ++row) {
      const ThreadId thread = calls.thread[row];
      for (;
           next < operators.size() && std::pair(operators.thread[next], operators.start_ns[next]) <=
                                          std::pair(thread, calls.start_ns[row]);
           ++next) {
        open.push_back(static_cast<uint32_t>(next));
      }
      while (!open.empty() && (operators.thread[open.back()] != thread ||
                               operators.end_ns[open.back()] < calls.end_ns[row])) {
        open.pop_back();
      }
      if (!open.empty()) around[row] = open.back();
    }
    return around;
  }

  Status ApiCalls() {
    const ApiCallsTable& calls = store_.api_calls;
    around_ = OperatorsAroundApiCalls();
    if (!selection_.HasTable(calls.kName)) return {};
    for (size_t row = 0; row < calls.size(); ++row) {
      if (!SelectsRow(selection_, calls, row)) continue;
      const ThreadId thread = calls.thread[row];
      Begin(calls.event_class[row] == 0 ? "cuda_runtime" : "cuda_driver",
            ApiName(Escaped(calls.name[row])), PidOf(thread), Tid(thread), calls.start_ns[row],
            calls.end_ns[row]);
      if (around_[row] != UINT32_MAX) Arg("External id") << around_[row] + 1;
      Arg("correlation") << calls.correlation[row];
      End();
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  // Members that all GPU events have, and the arrow from the call.
  template <typename Table>
  void Place(const Table& table, size_t row) {
    const ApiCallId call = table.api_call[row];
    if (!call.IsNone() && around_[call.row()] != UINT32_MAX) {
      Arg("External id") << around_[call.row()] + 1;
    }
    Arg("device") << table.device[row];
    Arg("context") << table.context[row];
    Arg("stream") << table.stream[row];
    Arg("correlation") << table.correlation[row];
  }
  template <typename Table>
  void LaunchArrow(const Table& table, size_t row) {
    const ApiCallId call = table.api_call[row];
    if (call.IsNone() || !selection_.HasTable(store_.api_calls.kName)) return;
    const size_t api = call.row();
    if (!SelectsRow(selection_, store_.api_calls, api)) return;
    const ThreadId thread = store_.api_calls.thread[api];
    Arrow('s', "ac2g", table.correlation[row], PidOf(thread), Tid(thread),
          store_.api_calls.start_ns[api]);
    Arrow('f', "ac2g", table.correlation[row], table.device[row], table.stream[row],
          table.start_ns[row]);
  }

  Status Kernels() {
    const KernelsTable& kernels = store_.kernels;
    const KernelLaunchesTable& launches = store_.kernel_launches;
    if (!selection_.HasTable(kernels.kName)) return {};
    for (size_t row = 0; row < kernels.size(); ++row) {
      if (!SelectsRow(selection_, kernels, row)) continue;
      Begin("kernel", Escaped(kernels.demangled_name[row]), kernels.device[row],
            kernels.stream[row], kernels.start_ns[row], kernels.end_ns[row]);
      Place(kernels, row);
      const size_t launch = kernels.launch[row];
      if (launch < launches.size()) {
        Arg("registers per thread") << launches.registers_per_thread[launch];
        Arg("shared memory") << launches.static_shared_bytes[launch] +
                                    launches.dynamic_shared_bytes[launch];
        Arg("grid") << '[' << launches.grid_x[launch] << ", " << launches.grid_y[launch] << ", "
                    << launches.grid_z[launch] << ']';
        Arg("block") << '[' << launches.block_x[launch] << ", " << launches.block_y[launch] << ", "
                     << launches.block_z[launch] << ']';
      }
      // The field is signed where it is read (yajl).
      Arg("graph node id") << static_cast<int64_t>(kernels.graph_node[row] & INT64_MAX);
      End();
      LaunchArrow(kernels, row);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  Status Copies() {
    const MemcpysTable& copies = store_.memcpys;
    for (size_t row = 0; row < copies.size(); ++row) {
      if (!selection_.HasTable(copies.kName) || !SelectsRow(selection_, copies, row)) continue;
      const std::string name =
          MemcpyName(copies.copy_kind[row], copies.source_kind[row], copies.destination_kind[row]);
      Begin("gpu_memcpy", name, copies.device[row], copies.stream[row], copies.start_ns[row],
            copies.end_ns[row]);
      Place(copies, row);
      Bytes(copies, row);
      End();
      LaunchArrow(copies, row);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    const MemsetsTable& sets = store_.memsets;
    for (size_t row = 0; row < sets.size(); ++row) {
      if (!selection_.HasTable(sets.kName) || !SelectsRow(selection_, sets, row)) continue;
      const std::string name = MemsetName(sets.memory_kind[row]);
      Begin("gpu_memset", name, sets.device[row], sets.stream[row], sets.start_ns[row],
            sets.end_ns[row]);
      Place(sets, row);
      Bytes(sets, row);
      End();
      LaunchArrow(sets, row);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  template <typename Table>
  void Bytes(const Table& table, size_t row) {
    Arg("bytes") << static_cast<int64_t>(table.bytes[row] & INT64_MAX);
    const int64_t ns = table.end_ns[row] - table.start_ns[row];
    if (ns <= 0) return;
    const double milli = static_cast<double>(table.bytes[row]) / static_cast<double>(ns) * 1000;
    Arg("memory bandwidth (GB/s)");
    out_.Microseconds(static_cast<int64_t>(std::min(milli, 1e15)));  // thousandths as decimals
  }

  Status Waits() {
    const SynchronizationsTable& waits = store_.synchronizations;
    if (!selection_.HasTable(waits.kName)) return {};
    for (size_t row = 0; row < waits.size(); ++row) {
      if (!SelectsRow(selection_, waits, row)) continue;
      const std::string name = SyncName(waits.sync_type[row]);
      const auto stream = static_cast<int32_t>(waits.stream[row]);
      Begin("cuda_sync", name, DeviceOf(waits.process[row], waits.context[row]), stream,
            waits.start_ns[row], waits.end_ns[row]);
      Arg("cuda_sync_kind") << '"' << name << '"';
      Arg("stream") << stream;
      Arg("wait_on_stream") << stream;
      Arg("correlation") << waits.correlation[row];
      Arg("context") << waits.context[row];
      Arg("device") << DeviceOf(waits.process[row], waits.context[row]);
      if (waits.event[row] != UINT32_MAX) Arg("wait_on_cuda_event_id") << waits.event[row];
      End();
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
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

  Status BackwardArrows() {
    const OperatorCallsTable& calls = store_.operator_calls;
    if (!selection_.HasTable(calls.kName)) return {};
    const BackwardLinks links(store_);
    uint64_t id = 0;
    for (const BackwardLink& link : links.links()) {
      const size_t from = link.forward.row();
      const size_t to = link.backward.row();
      if (!SelectsRow(selection_, calls, from) || !SelectsRow(selection_, calls, to)) continue;
      ++id;
      Arrow('s', "fwdbwd", id, PidOf(calls.thread[from]), Tid(calls.thread[from]),
            calls.start_ns[from]);
      Arrow('f', "fwdbwd", id, PidOf(calls.thread[to]), Tid(calls.thread[to]), calls.start_ns[to]);
      RETURN_IF_ERROR(out_.FlushIfLarge());
    }
    return {};
  }

  const Store& store_;
  const EventSelection& selection_;
  const StepOptions& steps_;
  TextBuffer& out_;
  std::vector<std::string> escaped_;  // by string row
  std::vector<uint32_t> around_;      // by api call: operator row
  int64_t base_ns_ = 0;
  int64_t offset_ns_ = 0;
  uint64_t events_ = 0;
  bool first_ = true;
  bool first_arg_ = true;
};

}  // namespace

Result<uint64_t> ExportChrome(const Store& store, const ExportOptions& options) {
  if (options.append) return UsageError("--append is for folders; chrome is one file");
  ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(options.output));
  TextBuffer out(file);
  ChromeTrace trace(store, options, out);
  RETURN_IF_ERROR(trace.Print());
  RETURN_IF_ERROR(out.Finish());
  return trace.events();
}

}  // namespace batchlight
