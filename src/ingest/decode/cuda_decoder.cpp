#include "ingest/decode/cuda_decoder.h"

#include <algorithm>
#include <string>

#include "base/hex_address.h"
#include "format/cuda_keys.h"
#include "ingest/decode/cuda_call_name.h"

namespace batchlight {

using format::RecordKind;
using format::RecordView;

namespace {

template <class Record>
int64_t EndOf(int64_t start_ns, const Record& record) {
  int64_t end_ns = 0;
  const uint64_t high = record.duration_high_ns & 0x7fffffff;
  const auto duration = static_cast<int64_t>((high << 32) | record.duration_ns);
  return __builtin_add_overflow(start_ns, duration, &end_ns) ? start_ns : end_ns;
}

// CUPTI numbers memory kinds from 1, with 0 for unknown; nsys from 0, with 7 for unknown.
MemoryKind MemoryKindOf(uint32_t cupti) {
  constexpr uint32_t kLast = 7;
  return cupti >= 1 && cupti <= kLast ? static_cast<MemoryKind>(cupti - 1) : MemoryKind::kUnknown;
}

// The kinds that CUPTI numbers 0, 1, 1 << 16, 2 << 16, ... are 1, 2, 3, 4, ... for nsys.
OverheadType OverheadTypeOf(uint32_t cupti) {
  if (cupti <= 1) return static_cast<OverheadType>(cupti + 1);
  return static_cast<OverheadType>(std::min<uint32_t>((cupti >> 16) + 2, UINT8_MAX));
}

// The fields that rows of all GPU work share. `place` has its device, context and stream.
template <typename Row, typename Record, typename Place>
Row WorkRow(ProcessId process, const Record& record, int64_t start_ns, const Place& place) {
  return {.start_ns = start_ns,
          .end_ns = EndOf(start_ns, record),
          .process = process,
          .correlation = record.correlation,
          .device = place.device,
          .context = place.context,
          .stream = place.stream};
}

std::string HexUuid(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[static_cast<uint8_t>(bytes[i]) >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

void CudaDecoder::BeginChunk() {
  base_ns_ = 0;
  launches_.clear();
}

const CudaDecoder::Launch& CudaDecoder::LaunchOf(uint32_t ref) {
  if (ref >= context_.string_count()) ref = 0;
  if (ref >= launches_.size()) launches_.resize(context_.string_count());
  Launch& launch = launches_[ref];
  if (launch.row != UINT32_MAX) return launch;
  const auto key = format::ReadKey<format::KernelLaunchKey>(context_.Text(ref));
  KernelLaunchesTable& table = context_.fragment.store.kernel_launches;
  launch = {static_cast<uint32_t>(table.size()), key.device, key.context, key.stream};
  table.Append({.grid_x = key.grid[0],
                .grid_y = key.grid[1],
                .grid_z = key.grid[2],
                .block_x = key.block[0],
                .block_y = key.block[1],
                .block_z = key.block[2],
                .registers_per_thread = key.registers_per_thread,
                .static_shared_bytes = key.static_shared_bytes,
                .dynamic_shared_bytes = key.dynamic_shared_bytes,
                .shared_executed_bytes = key.shared_executed_bytes,
                .local_bytes_per_thread = key.local_bytes_per_thread,
                .local_bytes_total = key.local_bytes_total,
                .cluster_x = key.cluster[0],
                .cluster_y = key.cluster[1],
                .cluster_z = key.cluster[2],
                .launch_type = static_cast<LaunchType>(key.launch_type + 1),
                .cache_config = static_cast<CacheConfig>(key.cache_config >> 4)});
  return launch;
}

void CudaDecoder::Take(const format::KernelRecord& record, int64_t start_ns) {
  const Launch launch = LaunchOf(record.launch);
  auto row = WorkRow<KernelsRow>(context_.process, record, start_ns, launch);
  row.mangled_name = context_.String(record.name);
  row.launch = KernelLaunchId::At(launch.row);
  row.graph_node = record.graph_node;
  context_.fragment.store.kernels.Append(row);
}

void CudaDecoder::Take(const format::MemcpyRecord& record, int64_t start_ns) {
  const auto place = format::ReadKey<format::MemoryPlaceKey>(context_.Text(record.place));
  auto row = WorkRow<MemcpysRow>(context_.process, record, start_ns, place);
  row.bytes = record.bytes;
  row.copy_kind = static_cast<CopyKind>(place.copy_kind);
  row.source_kind = MemoryKindOf(place.source_kind);
  row.destination_kind = MemoryKindOf(place.destination_kind);
  row.source_device = place.source_device;
  row.destination_device = place.destination_device;
  row.graph_node = record.graph_node;
  context_.fragment.store.memcpys.Append(row);
}

void CudaDecoder::Take(const format::MemsetRecord& record, int64_t start_ns) {
  const auto place = format::ReadKey<format::MemoryPlaceKey>(context_.Text(record.place));
  auto row = WorkRow<MemsetsRow>(context_.process, record, start_ns, place);
  row.value = record.value;
  row.bytes = record.bytes;
  row.memory_kind = MemoryKindOf(place.destination_kind);
  row.graph_node = record.graph_node;
  context_.fragment.store.memsets.Append(row);
}

void CudaDecoder::Take(const format::CudaCallRecord& record, int64_t start_ns) {
  constexpr uint32_t kDriverBit = 1u << 31;
  const bool driver = (record.call & kDriverBit) != 0;
  const uint32_t cbid = record.call & ~kDriverBit;
  Fragment& fragment = context_.fragment;
  const std::string_view known = CudaCallName(driver, cbid);
  const StringId name =
      fragment.store.strings.Intern(known.empty() ? CudaCallNameOrNumber(driver, cbid) : known);
  fragment.store.api_calls.Append(
      {.start_ns = start_ns,
       .end_ns = EndOf(start_ns, record),
       .name = name,
       .correlation = record.correlation,
       .result = static_cast<int32_t>(record.result),
       .event_class = driver ? EventClass::kCudaDriver : EventClass::kCudaRuntime});
  fragment.api_call_processes.push_back(context_.process);
  fragment.api_call_tids.push_back(record.tid);
}

void CudaDecoder::Take(const format::GpuWaitRecord& record, int64_t start_ns) {
  context_.fragment.store.synchronizations.Append({.start_ns = start_ns,
                                                   .end_ns = EndOf(start_ns, record),
                                                   .process = context_.process,
                                                   .correlation = record.correlation,
                                                   .context = record.context,
                                                   .stream = record.stream,
                                                   .sync_type = static_cast<SyncType>(record.type),
                                                   .event = record.event});
}

void CudaDecoder::Take(const format::CudaEventRecord& record, int64_t start_ns) {
  context_.fragment.store.cuda_events.Append(
      {.start_ns = record.known != 0 ? start_ns : kOpenEnd,  // FinishStore() takes the call's
       .process = context_.process,
       .correlation = record.correlation,
       .context = record.context,
       .stream = record.stream,
       .event = record.event});
}

void CudaDecoder::Take(const format::GraphLaunchRecord& record, int64_t start_ns) {
  auto row = WorkRow<GraphLaunchesRow>(context_.process, record, start_ns, record);
  row.graph = record.graph;
  context_.fragment.store.graph_launches.Append(row);
}

void CudaDecoder::Take(const format::GpuMemoryRecord& record, int64_t start_ns) {
  constexpr uint32_t kCuptiRelease = 2;
  context_.fragment.store.gpu_memory_events.Append(
      {.start_ns = start_ns,
       .process = context_.process,
       .device = record.device,
       .context = record.context,
       .correlation = record.correlation,
       .address = record.address,
       .bytes = record.bytes,
       .memory_kind = MemoryKindOf(record.memory_kind),
       .operation = record.operation == kCuptiRelease ? MemoryOperation::kRelease
                                                      : MemoryOperation::kAllocation});
}

void CudaDecoder::Take(const format::GpuMemoryPoolRecord& record, int64_t start_ns) {
  context_.fragment.store.gpu_memory_pools.Append(
      {.start_ns = start_ns,
       .process = context_.process,
       .device = record.device,
       .correlation = record.correlation,
       .address = record.address,
       .bytes = record.bytes,
       .used_bytes = record.used_bytes,
       .release_threshold_bytes = record.release_threshold_bytes,
       .bytes_to_keep = record.bytes_to_keep,
       .operation = static_cast<PoolOperation>(record.operation),
       .pool_type = static_cast<PoolType>(record.pool_type)});
}

void CudaDecoder::Take(const format::CudaOverheadRecord& record, int64_t start_ns) {
  context_.fragment.store.gpu_overheads.Append({.start_ns = start_ns,
                                                .end_ns = EndOf(start_ns, record),
                                                .process = context_.process,
                                                .overhead_type = OverheadTypeOf(record.type),
                                                .correlation = record.correlation});
  context_.fragment.overhead_tids.push_back(record.tid);
}

void CudaDecoder::Take(const format::CudaJitRecord& record, int64_t start_ns) {
  context_.fragment.store.cuda_jits.Append(
      {.start_ns = start_ns,
       .end_ns = EndOf(start_ns, record),
       .process = context_.process,
       .device = record.device,
       .correlation = record.correlation,
       .entry_type = static_cast<JitEntryType>(record.entry_type),
       .operation = static_cast<JitOperation>(record.operation),
       .cache_bytes = record.cache_bytes,
       .cache_path = context_.String(record.cache_path)});
  context_.fragment.jit_tids.push_back(record.tid);
}

void CudaDecoder::Take(const format::UnifiedMemoryRecord& record, int64_t start_ns) {
  constexpr uint32_t kBytesToDevice = 1, kBytesToHost = 2, kCpuFaults = 3, kGpuFault = 4;
  Store& store = context_.fragment.store;
  switch (record.counter) {  // CUpti_ActivityUnifiedMemoryCounterKind
    case kCpuFaults:         // the value is where the code stood
      store.um_cpu_faults.Append({.start_ns = start_ns,
                                  .process = context_.process,
                                  .address = record.address,
                                  .instruction = store.strings.Intern(HexAddress(record.value)),
                                  .module = store.strings.Intern("[Unknown]")});
      return;
    case kGpuFault:
      store.um_gpu_faults.Append({.start_ns = start_ns,
                                  .end_ns = EndOf(start_ns, record),
                                  .process = context_.process,
                                  .device = record.source,
                                  .address = record.address,
                                  .fault_count = static_cast<uint32_t>(record.value),
                                  .access_type = static_cast<AccessType>(record.flags)});
      return;
    case kBytesToDevice:
    case kBytesToHost:
      TakeMigration(record, start_ns, record.counter == kBytesToDevice);
      return;
    default:  // not asked for
      return;
  }
}

// Pages that move are a copy without a call, a context or a stream.
void CudaDecoder::TakeMigration(const format::UnifiedMemoryRecord& record, int64_t start_ns,
                                bool to_device) {
  Store& store = context_.fragment.store;
  store.um_transfers.Append({.memcpy_row = MemcpyId::At(store.memcpys.size()),
                             .virtual_address = record.address,
                             .migration_cause = static_cast<MigrationCause>(record.flags)});
  store.memcpys.Append(
      {.start_ns = start_ns,
       .end_ns = EndOf(start_ns, record),
       .process = context_.process,
       .device = to_device ? record.destination : record.source,
       .bytes = record.value,
       .copy_kind = to_device ? CopyKind::kUnifiedHostToDevice : CopyKind::kUnifiedDeviceToHost,
       .source_kind = MemoryKind::kManaged,
       .destination_kind = MemoryKind::kManaged,
       .source_device = record.source,
       .destination_device = record.destination});
}

void CudaDecoder::Take(const format::GpuDeviceRecord& record) {
  Store& store = context_.fragment.store;
  store.gpus.Append({.device = record.device,
                     .name = context_.String(record.name),
                     .uuid = store.strings.Intern(HexUuid(context_.Text(record.uuid))),
                     .compute_major = record.compute_major,
                     .compute_minor = record.compute_minor,
                     .sm_count = record.sm_count,
                     .clock_khz = record.clock_khz,
                     .memory_bytes = record.memory_bytes,
                     .memory_bandwidth_bytes_per_s = record.memory_bandwidth_bytes_per_s,
                     .l2_bytes = record.l2_bytes,
                     .max_threads_per_sm = record.max_threads_per_sm,
                     .max_blocks_per_sm = record.max_blocks_per_sm,
                     .max_registers_per_sm = record.max_registers_per_sm,
                     .max_shared_bytes_per_sm = record.max_shared_bytes_per_sm,
                     .max_registers_per_block = record.max_registers_per_block,
                     .max_shared_bytes_per_block = record.max_shared_bytes_per_block,
                     .warp_threads = record.warp_threads});
}

// A cost is a fact about the process, so it is stored as a property like the others.
void CudaDecoder::Take(const format::RecordCostRecord& record) {
  Store& store = context_.fragment.store;
  const std::string key = "cost." + std::string(context_.Text(record.what)) + "_ns";
  store.properties.Append({.process = context_.process,
                           .key = store.strings.Intern(key),
                           .value = store.strings.Intern(std::to_string(record.ns))});
}

void CudaDecoder::Take(const format::GpuContextRecord& record) {
  context_.fragment.store.gpu_contexts.Append({.process = context_.process,
                                               .device = record.device,
                                               .context = record.context,
                                               .null_stream = record.null_stream});
}

void CudaDecoder::Take(const format::GpuStreamRecord& record) {
  context_.fragment.store.gpu_streams.Append({.process = context_.process,
                                              .context = record.context,
                                              .stream = record.stream,
                                              .priority = record.priority,
                                              .flag = static_cast<StreamFlag>(record.flag)});
}

void CudaDecoder::TakeGraphNode(const RecordView& view) {
  const auto record = view.As<format::GraphNodeRecord>();
  context_.fragment.store.graph_nodes.Append({.start_ns = context_.Now(view.ticks),
                                              .thread = context_.thread,
                                              .graph_node = record.node,
                                              .original_graph_node = record.original});
}

void CudaDecoder::TakeClock(const RecordView& view) {
  const auto record = view.As<format::GpuClockRecord>();
  // A chunk's first instant is the recorder's reading of the clocks for its header. Recorders of
  // before read this pair earlier than the chunk that they made for it, by up to 140 us.
  if (view.ticks == 0) return;
  context_.fragment.gpu_clocks.push_back(
      {context_.process, context_.Time(view.ticks), record.cupti_ns, record.uncertainty_ns});
}

bool CudaDecoder::Decode(const RecordView& view) {
  switch (view.kind) {
#define AT_GPU_TIME(Name)                                 \
  case RecordKind::k##Name:                               \
    Take(view.As<format::Name##Record>(), GpuTime(view)); \
    return true;
    AT_GPU_TIME(Kernel)
    AT_GPU_TIME(CudaCall)
    AT_GPU_TIME(Memcpy)
    AT_GPU_TIME(Memset)
    AT_GPU_TIME(GpuWait)
    AT_GPU_TIME(CudaEvent)
    AT_GPU_TIME(GraphLaunch)
    AT_GPU_TIME(GpuMemory)
    AT_GPU_TIME(GpuMemoryPool)
    AT_GPU_TIME(CudaOverhead)
    AT_GPU_TIME(CudaJit)
    AT_GPU_TIME(UnifiedMemory)
#undef AT_GPU_TIME
#define FACT(Name)                         \
  case RecordKind::k##Name:                \
    Take(view.As<format::Name##Record>()); \
    return true;
    FACT(GpuContext)
    FACT(GpuStream)
    FACT(GpuDevice)
    FACT(RecordCost)
#undef FACT
    case RecordKind::kGraphNode:
      TakeGraphNode(view);
      return true;
    case RecordKind::kGpuClock:
      TakeClock(view);
      return true;
    case RecordKind::kGpuTimeBase:
      base_ns_ = view.As<format::GpuTimeBaseRecord>().base_ns;
      return true;
    default:
      return false;
  }
}

}  // namespace batchlight
