// Samples, switches and call chains in an nsys export. A chain's number is its stack's row, from 1.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <set>
#include <vector>

#include "export/sqlite/nsys_rows.h"
#include "nsys/cpu_tables.h"

namespace batchlight {
namespace {

constexpr std::string_view kNoModule = "[Unknown]";

int64_t SymbolOf(NsysWriter& writer, const NativeFramesRow& frame) {
  if (!frame.function.IsNone()) return writer.String(frame.function);
  char address[32];
  std::snprintf(address, sizeof address, "0x%" PRIx64, frame.address);
  return writer.OwnString(address);
}

// How the frames of samples were found; nsys does not say it of calls.
class UnwindMethods {
 public:
  explicit UnwindMethods(const Store& store) {
    const std::string_view backtrace = store.Property("sampling.backtrace");
    if (backtrace == "fp") of_program_ = Number(nsys::UnwindMethod::kFramePointer);
    if (backtrace == "dwarf") of_program_ = Number(nsys::UnwindMethod::kDWARFEH);
  }
  std::optional<int64_t> Of(bool in_kernel) const {
    return in_kernel ? Number(nsys::UnwindMethod::kKernelContext) : of_program_;
  }

 private:
  static int64_t Number(nsys::UnwindMethod method) { return static_cast<int64_t>(method); }
  std::optional<int64_t> of_program_;  // a recording of an older version does not say it
};

template <typename... Columns>
void PutChain(NsysWriter& writer, SqliteInsert& insert, const nsys::Table<Columns...>& table,
              int64_t id, NativeStackId stack, const UnwindMethods* methods = nullptr) {
  const Store& store = writer.store;
  int64_t depth = 0;
  for (; !stack.IsNone(); stack = store.native_stacks.parent[stack.row()]) {
    const NativeFrameId frame_id = store.native_stacks.frame[stack.row()];
    if (frame_id.IsNone()) continue;
    const NativeFramesRow frame = store.native_frames.Row(frame_id.row());
    if (frame.inlined == YesNo::kYes) continue;  // nsys has a frame for each that is on the stack
    const bool in_module = !frame.module.IsNone();
    const bool in_kernel =
        in_module && store.native_modules.of_kernel[frame.module.row()] == YesNo::kYes;
    const StringId path =
        in_module ? store.native_modules.path[frame.module.row()] : StringId::None();
    const bool of_cuda = std::string_view(table.name) == nsys::kCudaCallchains.name;
    insert.Int(id);
    insert.Int(SymbolOf(writer, frame));
    insert.Int(path.IsNone() ? writer.OwnString(kNoModule) : writer.String(path));
    if (!of_cuda) insert.Int(in_kernel ? 1 : 0);
    if (!of_cuda) insert.Int(0);  // thumbCode
    insert.IntOrNull(!of_cuda || frame.function.IsNone(), frame.function.IsNone() ? 1 : 0);
    insert.Int(static_cast<int64_t>(frame.address));
    if (!of_cuda) {
      const std::optional<int64_t> method =
          methods == nullptr ? std::nullopt : methods->Of(in_kernel);
      insert.IntOrNull(method.has_value(), method.value_or(0));
    }
    insert.Int(depth++);
    insert.Done();
  }
}

// The chains of all `stacks`, by number.
template <typename... Columns>
Status WriteChains(NsysWriter& writer, const nsys::Table<Columns...>& table,
                   const std::set<NativeStackId>& stacks) {
  return writer.Table(table, stacks.size(), [&](SqliteInsert& insert) {
    for (const NativeStackId stack : stacks) {
      PutChain(writer, insert, table, ChainOf(stack), stack);
    }
  });
}

Status WriteSamples(NsysWriter& writer) {
  const CpuSamplesTable& samples = writer.store.cpu_samples;
  const std::vector<uint32_t> rows = ByStart(samples, [&](uint32_t row) {
    return writer.Selects(samples.start_ns[row], samples.start_ns[row]);
  });
  RETURN_IF_ERROR(writer.Table(nsys::kThreadSamples, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      PutRow(writer, insert, nsys::kThreadSamples, row,
             nsys::ThreadSample{.id = int64_t{row} + 1,
                                .start_ns = writer.Time(samples.start_ns[row]),
                                .cpu = samples.cpu[row],
                                .thread = samples.thread[row],
                                .count = samples.cpu_ns[row]});
    }
  }));
  const UnwindMethods methods(writer.store);
  return writer.Table(nsys::kSampleCallchains, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      PutChain(writer, insert, nsys::kSampleCallchains, int64_t{row} + 1, samples.native_stack[row],
               &methods);
    }
  });
}

// A process whose switches were recorded to its end: the last of each thread is the thread's.
class EndedProcesses {
 public:
  explicit EndedProcesses(const Store& store) : last_ns_(store.processes.size(), INT64_MIN) {
    const CpuSwitchesTable& switches = store.cpu_switches;
    for (size_t row = 0; row < switches.size(); ++row) {
      const ProcessId process = OfThread(store, switches.thread[row]);
      is_of_nsys_ = is_of_nsys_ || switches.kind[row] == SwitchKind::kOff;
      if (process.IsNone()) continue;
      int64_t& last_ns = last_ns_[process.row()];
      last_ns = std::max(last_ns, switches.start_ns[row]);
    }
  }
  bool EndsAt(const Store& store, size_t row) const {
    const CpuSwitchesTable& switches = store.cpu_switches;
    const ThreadId thread = switches.thread[row];
    if (switches.kind[row] != SwitchKind::kBlocked) return false;
    if (row + 1 < switches.size() && switches.thread[row + 1] == thread) return false;
    if (is_of_nsys_) return true;  // which tells of no other loss than the last what it is
    const ProcessId process = OfThread(store, thread);
    if (process.IsNone()) return false;
    const int64_t end_ns = store.processes.end_ns[process.row()];
    return end_ns != kOpenEnd && last_ns_[process.row()] >= end_ns - kNearNs;
  }

 private:
  static constexpr int64_t kNearNs = 10'000'000;
  static ProcessId OfThread(const Store& store, ThreadId thread) {
    return thread.IsNone() ? ProcessId::None() : store.threads.process[thread.row()];
  }
  std::vector<int64_t> last_ns_;
  bool is_of_nsys_ = false;
};

Status WriteSwitches(NsysWriter& writer) {
  const CpuSwitchesTable& switches = writer.store.cpu_switches;
  const std::vector<uint32_t> rows = ByStart(switches, [&](uint32_t row) {
    return writer.Selects(switches.start_ns[row], switches.start_ns[row]);
  });
  const EndedProcesses processes(writer.store);
  return writer.Table(nsys::kThreadSwitches, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      const auto state = processes.EndsAt(writer.store, row) ? nsys::ThreadState::kTerminated
                                                             : nsys::ThreadState::kUnknown;
      PutRow(writer, insert, nsys::kThreadSwitches, row,
             nsys::ThreadSwitch{.start_ns = writer.Time(switches.start_ns[row]),
                                .cpu = switches.cpu[row],
                                .in = switches.kind[row] == SwitchKind::kOn ? 1 : 0,
                                .state = static_cast<int64_t>(state),
                                .thread = switches.thread[row]});
    }
  });
}

}  // namespace

int64_t ChainOf(NativeStackId stack) {
  return stack.IsNone() ? 0 : static_cast<int64_t>(stack.row()) + 1;
}

std::unordered_map<size_t, NativeStackId> StacksOfCudaCalls(const Store& store) {
  std::unordered_map<size_t, NativeStackId> stacks;
  const CudaBacktracesTable& backtraces = store.cuda_backtraces;
  for (size_t row = 0; row < backtraces.size(); ++row) {
    if (!backtraces.api_call[row].IsNone()) {
      stacks[backtraces.api_call[row].row()] = backtraces.native_stack[row];
    }
  }
  return stacks;
}

Status WriteCpuTables(NsysWriter& writer) {
  const Store& store = writer.store;
  std::set<NativeStackId> cuda;
  for (const auto& [call, stack] : StacksOfCudaCalls(store)) {
    if (writer.Selects(store.api_calls.start_ns[call], store.api_calls.end_ns[call])) {
      cuda.insert(stack);
    }
  }
  RETURN_IF_ERROR(WriteChains(writer, nsys::kCudaCallchains, cuda));
  std::set<NativeStackId> os;
  const OsCallsTable& calls = store.os_calls;
  for (size_t row = 0; row < calls.size(); ++row) {
    if (!calls.native_stack[row].IsNone() && calls.event_class[row] == EventClass::kOsRuntime &&
        writer.Selects(calls.start_ns[row], calls.end_ns[row])) {
      os.insert(calls.native_stack[row]);
    }
  }
  RETURN_IF_ERROR(WriteChains(writer, nsys::kOsCallchains, os));
  RETURN_IF_ERROR(WriteSamples(writer));
  return WriteSwitches(writer);
}

}  // namespace batchlight
