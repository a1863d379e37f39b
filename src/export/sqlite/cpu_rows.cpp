// Samples, switches and call chains in an nsys export. A chain's number is its stack's row, from 1.
#include <cinttypes>
#include <cstdio>
#include <set>

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

template <typename... Columns>
void PutChain(NsysWriter& writer, SqliteInsert& insert, const nsys::Table<Columns...>& table,
              int64_t id, NativeStackId stack) {
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
    insert.IntOrNull(!of_cuda || frame.function.IsNone(), frame.function.IsNone() ? 1 : 0);
    insert.Int(static_cast<int64_t>(frame.address));
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
  return writer.Table(nsys::kSampleCallchains, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      PutChain(writer, insert, nsys::kSampleCallchains, int64_t{row} + 1,
               samples.native_stack[row]);
    }
  });
}

Status WriteSwitches(NsysWriter& writer) {
  const CpuSwitchesTable& switches = writer.store.cpu_switches;
  const std::vector<uint32_t> rows = ByStart(switches, [&](uint32_t row) {
    return writer.Selects(switches.start_ns[row], switches.start_ns[row]);
  });
  return writer.Table(nsys::kThreadSwitches, rows.size(), [&](SqliteInsert& insert) {
    for (const uint32_t row : rows) {
      const SwitchKind kind = switches.kind[row];
      PutRow(writer, insert, nsys::kThreadSwitches, row,
             nsys::ThreadSwitch{.start_ns = writer.Time(switches.start_ns[row]),
                                .cpu = switches.cpu[row],
                                .in = kind == SwitchKind::kOn ? 1 : 0,
                                .state = kind == SwitchKind::kBlocked ? nsys::kThreadWaiting
                                                                      : nsys::kThreadRunning,
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
