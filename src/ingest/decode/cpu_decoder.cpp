#include "ingest/decode/cpu_decoder.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace batchlight {
namespace {

using format::RecordKind;

constexpr uint32_t kModuleOfKernel = 1;

std::string Hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

// Of damaged records too, sums of all rows that there can be must fit.
constexpr uint64_t kMostSampleNs = 2'000'000'000;
constexpr uint64_t kMostUsageNs = uint64_t{1} << 60;

int64_t AtMost(uint64_t most, uint64_t value) {
  return static_cast<int64_t>(std::min(value, most));
}

}  // namespace

void CpuDecoder::BeginChunk() {
  modules_.assign(1, {});
  stacks_.assign(1, {});
  // A definition takes at least 16 bytes, so a larger id is damage and must not cost memory.
  max_id_ = context_.chunk_bytes() / 16;
}

void CpuDecoder::Decode(const format::RecordView& view) {
  switch (view.kind) {
    case RecordKind::kNativeModule:
      return Take(view.As<format::NativeModuleRecord>());
    case RecordKind::kNativeStack:
      return Take(view.As<format::NativeStackRecord>());
    case RecordKind::kNativeSymbol:
      return Take(view.As<format::NativeSymbolRecord>());
    case RecordKind::kNativeInlined:
      return Take(view.As<format::NativeInlinedRecord>());
    case RecordKind::kCudaBacktrace:
      return Take(view.As<format::CudaBacktraceRecord>());
    case RecordKind::kOsBacktrace:
      return Take(view.As<format::OsBacktraceRecord>());
    default:
      // Other processes cannot speak for a thread that is not theirs.
      if (context_.process.IsNone()) TakeOfTool(view);
  }
}

void CpuDecoder::TakeOfTool(const format::RecordView& view) {
  const int64_t at_ns = context_.Time(view.ticks);
  switch (view.kind) {
    case RecordKind::kCpuSample:
      return Take(view.As<format::CpuSampleRecord>(), at_ns);
    case RecordKind::kCpuSwitch:
      return Take(view.As<format::CpuSwitchRecord>(), at_ns);
    case RecordKind::kCpuThread:
      return Take(view.As<format::CpuThreadRecord>(), at_ns);
    case RecordKind::kProcessUsage:
      return Take(view.As<format::ProcessUsageRecord>(), at_ns);
    case RecordKind::kMachineUsage:
      return Take(view.As<format::MachineUsageRecord>(), at_ns);
    case RecordKind::kNetworkUsage:
      return Take(view.As<format::NetworkUsageRecord>(), at_ns);
    default:
      return;
  }
}

void CpuDecoder::Take(const format::NativeModuleRecord& record) {
  if (record.id == 0 || record.id > max_id_) return;
  Store& store = context_.fragment.store;
  const StringId path = context_.String(record.path);
  const std::string_view bytes = context_.Text(record.build_id);
  const StringId build_id =
      bytes.empty() ? StringId::None() : store.strings.Intern(Hexadecimal(bytes));
  const auto [place, added] =
      module_rows_.try_emplace({path, build_id}, NativeModuleId::At(store.native_modules.size()));
  if (added) {
    store.native_modules.Append(
        {.path = path,
         .build_id = build_id,
         .of_kernel = (record.flags & kModuleOfKernel) != 0 ? YesNo::kYes : YesNo::kNo});
  }
  if (record.id >= modules_.size()) modules_.resize(record.id + 1);
  modules_[record.id] = place->second;
}

void CpuDecoder::Take(const format::NativeStackRecord& record) {
  if (record.id == 0 || record.id > max_id_) return;
  Store& store = context_.fragment.store;
  const NativeModuleId module =
      record.module < modules_.size() ? modules_[record.module] : NativeModuleId::None();
  const auto [frame, new_frame] = frame_rows_.try_emplace(
      {module, record.address}, NativeFrameId::At(store.native_frames.size()));
  if (new_frame) store.native_frames.Append({.module = module, .address = record.address});
  const NativeStackId parent = Stack(record.parent);
  const auto [place, added] = stack_rows_.try_emplace(
      {frame->second, parent}, NativeStackId::At(store.native_stacks.size()));
  if (added) store.native_stacks.Append({.frame = frame->second, .parent = parent});
  if (record.id >= stacks_.size()) stacks_.resize(record.id + 1);
  stacks_[record.id] = place->second;
}

void CpuDecoder::Take(const format::NativeSymbolRecord& record) {
  if (record.module >= modules_.size() || modules_[record.module].IsNone()) return;
  const NativeModulesRow module =
      context_.fragment.store.native_modules.Row(modules_[record.module].row());
  context_.fragment.native_symbols.push_back(
      {module.path, module.build_id, record.begin, record.end, context_.String(record.name)});
}

void CpuDecoder::Take(const format::NativeInlinedRecord& record) {
  if (record.module >= modules_.size() || modules_[record.module].IsNone()) return;
  const NativeModulesRow module =
      context_.fragment.store.native_modules.Row(modules_[record.module].row());
  context_.fragment.native_inlined.push_back(
      {module.path, module.build_id, record.address, record.level, context_.String(record.name)});
}

void CpuDecoder::Take(const format::CudaBacktraceRecord& record) {
  const NativeStackId stack = Stack(record.stack);
  if (stack.IsNone() || context_.process.IsNone()) return;
  context_.fragment.store.cuda_backtraces.Append(
      {.process = context_.process, .correlation = record.correlation, .native_stack = stack});
}

void CpuDecoder::Take(const format::OsBacktraceRecord& record) {
  OsCallsTable& calls = context_.fragment.store.os_calls;
  if (calls.size() == 0 || calls.thread.back() != context_.thread) return;
  calls.native_stack.back() = Stack(record.stack);
}

void CpuDecoder::Take(const format::CpuSampleRecord& record, int64_t at_ns) {
  Fragment& fragment = context_.fragment;
  fragment.store.cpu_samples.Append({.start_ns = at_ns,
                                     .cpu = record.cpu,
                                     .cpu_ns = AtMost(kMostSampleNs, record.cpu_ns),
                                     .native_stack = Stack(record.stack),
                                     .stack_end = KindOr(record.stack_end, StackEnd::kNoTables)});
  fragment.sample_owners.push_back({record.pid, record.tid});
}

void CpuDecoder::Take(const format::CpuSwitchRecord& record, int64_t at_ns) {
  Fragment& fragment = context_.fragment;
  fragment.store.cpu_switches.Append(
      {.start_ns = at_ns, .cpu = record.cpu, .kind = KindOr(record.kind, SwitchKind::kBlocked)});
  fragment.switch_owners.push_back({record.pid, record.tid});
}

void CpuDecoder::Take(const format::CpuThreadRecord& record, int64_t at_ns) {
  context_.fragment.cpu_threads.push_back({{record.pid, record.tid},
                                           record.parent_pid,
                                           record.what,
                                           context_.String(record.name),
                                           at_ns});
}

void CpuDecoder::Take(const format::ProcessUsageRecord& record, int64_t at_ns) {
  Fragment& fragment = context_.fragment;
  fragment.store.process_usage.Append(
      {.start_ns = at_ns,
       .threads = record.threads,
       .user_ns = AtMost(kMostUsageNs, record.user_ns),
       .system_ns = AtMost(kMostUsageNs, record.system_ns),
       .memory_bytes = record.resident_bytes,
       .read_bytes = record.read_bytes,
       .written_bytes = record.written_bytes,
       .first_ran_ns = AtMost(kMostUsageNs, record.first_ran_ns),
       .first_waited_ns = AtMost(kMostUsageNs, record.first_waited_ns),
       .processors = record.processors});
  fragment.usage_owners.push_back({record.pid, record.pid});
}

void CpuDecoder::Take(const format::MachineUsageRecord& record, int64_t at_ns) {
  constexpr double kThousandths = 1000;
  context_.fragment.store.machine_usage.Append(
      {.start_ns = at_ns,
       .processors = record.processors,
       .runnable = record.runnable,
       .busy_ns = AtMost(kMostUsageNs, record.busy_ns),
       .stolen_ns = AtMost(kMostUsageNs, record.stolen_ns),
       .tool_ns = AtMost(kMostUsageNs, record.tool_ns),
       .cpu_pressure_ns = AtMost(kMostUsageNs, record.cpu_pressure_ns),
       .io_pressure_ns = AtMost(kMostUsageNs, record.io_pressure_ns),
       .memory_pressure_ns = AtMost(kMostUsageNs, record.memory_pressure_ns),
       .available_bytes = record.available_bytes,
       .group_limit = static_cast<double>(record.group_limit) / kThousandths,
       .group_cpu_ns = AtMost(kMostUsageNs, record.group_cpu_ns),
       .group_periods = record.group_periods,
       .group_throttled_periods = record.group_throttled_periods,
       .group_throttled_ns = AtMost(kMostUsageNs, record.group_throttled_ns),
       .group_memory_bytes = record.group_memory_bytes,
       .group_memory_limit_bytes = record.group_memory_limit_bytes});
}

void CpuDecoder::Take(const format::NetworkUsageRecord& record, int64_t at_ns) {
  Fragment& fragment = context_.fragment;
  fragment.store.network_usage.Append({.start_ns = at_ns,
                                       .interface = context_.String(record.interface),
                                       .received_bytes = record.received_bytes,
                                       .sent_bytes = record.sent_bytes});
  fragment.network_owners.push_back({record.pid, record.pid});
}

}  // namespace batchlight
