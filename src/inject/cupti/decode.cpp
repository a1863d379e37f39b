#include "inject/cupti/decode.h"

#include <cstring>

#include "format/cuda_keys.h"
#include "inject/buffer/facts.h"
#include "inject/cupti/follower.h"
#include "inject/cupti/gpu_writer.h"

namespace batchlight::inject::cupti {

__thread uint32_t GpuWriter::t_based_chunk;
__thread int64_t GpuWriter::t_base_ns;

namespace {

using namespace format;

// A forced flush makes CUPTI hand out all it has: work that is still running has no end yet.
bool Complete(uint64_t start, uint64_t end) { return start != 0 && end >= start; }

class Decoder {
 public:
  Decoder(const Guard& guard, uint32_t version, DecodeFilter filter, int64_t now_ns)
      : guard_(guard), version_(version), filter_(filter), out_(guard, now_ns) {}

  void Decode(const Activity* record);
  DecodeTotals totals;

 private:
  void Decode(const KernelActivity& a);
  void Decode(const ApiActivity& a);
  void Decode(const MemcpyActivity& a);
  void Decode(const MemcpyPeerActivity& a);
  void Decode(const MemsetActivity& a);
  void Decode(const SynchronizationActivity& a);
  void Decode(const CudaEventActivity& a);
  void Decode(const GraphTraceActivity& a);
  void Decode(const OverheadActivity& a);
  void Decode(const MemoryActivity& a);
  void Decode(const MemoryPoolActivity& a);
  void Decode(const DeviceActivity& a);
  void Decode(const ContextActivity& a);
  void Decode(const StreamActivity& a);
  void Decode(const JitActivity& a);
  void Decode(const UnifiedMemoryActivity& a);

  template <class R>
  bool Room(size_t string_bytes = 0) {
    return out_.Ensure(sizeof(R) + string_bytes);
  }
  template <class A>
  bool Ended(const A& a) {
    if (Complete(a.start, a.end)) return true;
    ++totals.incomplete;
    return false;
  }

  // A record of work, with its duration filled in here.
  template <class R>
  void WriteSpan(R record, uint64_t start, uint64_t end) {
    record.duration_ns = static_cast<uint32_t>(end - start);
    record.duration_high_ns = static_cast<uint32_t>((end - start) >> 32);
    out_.Write(record, start);
  }
  template <class A>
  void Copy(const A& a, uint32_t source_device, uint32_t destination_device);

  const Guard& guard_;
  const uint32_t version_;
  const DecodeFilter filter_;
  GpuWriter out_;
};

void Decoder::Decode(const KernelActivity& a) {
  // CUPTI has no times of a launch that it ran once for each pass of counters: these tell.
  const uint64_t replayed_ns = Complete(a.start, a.end) || g_follower == nullptr
                                   ? 0
                                   : g_follower->replayed_ns(a.correlation);
  if (replayed_ns == 0 && !Ended(a)) return;
  KernelLaunchKey key{.device = a.device,
                      .context = a.context,
                      .stream = a.stream,
                      .registers_per_thread = a.registers_per_thread,
                      .static_shared_bytes = static_cast<uint32_t>(a.static_shared),
                      .dynamic_shared_bytes = static_cast<uint32_t>(a.dynamic_shared),
                      .shared_executed_bytes = a.shared_executed,
                      .local_bytes_per_thread = a.local_per_thread,
                      .launch_type = a.launch_type,
                      .cache_config = a.cache_config,
                      .shared_limit_config = static_cast<uint8_t>(a.shared_limit_config),
                      .local_bytes_total = a.local_total_wide};
  std::memcpy(key.grid, a.grid, sizeof key.grid);
  std::memcpy(key.block, a.block, sizeof key.block);
  std::memcpy(key.cluster, a.cluster, sizeof key.cluster);
  size_t name_bytes = a.name != nullptr ? std::strlen(a.name) : 0;
  if (name_bytes > kMaxStringBytes) {  // cut here: the string table knows names by what it stores
    name_bytes = kMaxStringBytes;
    AddCounter(Counter::kStringsTruncated);
  }
  if (!Room<KernelRecord>(StringBytes(name_bytes) + StringBytes(sizeof key))) return;
  WriteSpan(KernelRecord{.correlation = a.correlation,
                         .name = out_.Intern(a.name, name_bytes),
                         .launch = out_.Intern(&key, sizeof key),
                         .graph_node = a.graph_node,
                         .graph = a.graph},
            replayed_ns != 0 ? replayed_ns : a.start, replayed_ns != 0 ? replayed_ns : a.end);
}

void Decoder::Decode(const ApiActivity& a) {
  if (a.thread == filter_.own_tid || !Ended(a) || !Room<CudaCallRecord>()) return;
  WriteSpan(CudaCallRecord{.correlation = a.correlation,
                           .tid = a.thread,
                           .call = a.cbid | (a.kind == kDriver ? 1u << 31 : 0),
                           .result = a.result},
            a.start, a.end);
}

void Decoder::Decode(const MemcpyActivity& a) { Copy(a, a.device, a.device); }

void Decoder::Decode(const MemcpyPeerActivity& a) {
  Copy(a, a.source_device, a.destination_device);
}

template <class A>
void Decoder::Copy(const A& a, uint32_t source_device, uint32_t destination_device) {
  const MemoryPlaceKey key{.device = a.device,
                           .context = a.context,
                           .stream = a.stream,
                           .source_device = source_device,
                           .destination_device = destination_device,
                           .copy_kind = a.copy_kind,
                           .source_kind = a.source_kind,
                           .destination_kind = a.destination_kind,
                           .asynchronous = static_cast<uint8_t>(a.flags & 1)};
  if (!Ended(a) || !Room<MemcpyRecord>(StringBytes(sizeof key))) return;
  WriteSpan(MemcpyRecord{.correlation = a.correlation,
                         .bytes = a.bytes,
                         .place = out_.Intern(&key, sizeof key),
                         .graph_node = a.graph_node},
            a.start, a.end);
}

void Decoder::Decode(const MemsetActivity& a) {
  const MemoryPlaceKey key{.device = a.device,
                           .context = a.context,
                           .stream = a.stream,
                           .source_device = a.device,
                           .destination_device = a.device,
                           .destination_kind = static_cast<uint8_t>(a.memory_kind),
                           .asynchronous = static_cast<uint8_t>(a.flags & 1)};
  if (!Ended(a) || !Room<MemsetRecord>(StringBytes(sizeof key))) return;
  WriteSpan(MemsetRecord{.correlation = a.correlation,
                         .bytes = a.bytes,
                         .place = out_.Intern(&key, sizeof key),
                         .value = a.value,
                         .graph_node = a.graph_node},
            a.start, a.end);
}

void Decoder::Decode(const SynchronizationActivity& a) {
  if (!Ended(a) || !Room<GpuWaitRecord>()) return;
  WriteSpan(GpuWaitRecord{.correlation = a.correlation,
                          .context = a.context,
                          .stream = a.stream,
                          .type = a.type,
                          .event = a.event},
            a.start, a.end);
}

void Decoder::Decode(const CudaEventActivity& a) {
  if (!Room<CudaEventRecord>()) return;
  const uint64_t device_ns = version_ >= kVersion12_8 ? a.device_timestamp : 0;
  out_.Write(CudaEventRecord{.correlation = a.correlation,
                             .context = a.context,
                             .stream = a.stream,
                             .event = a.event,
                             .known = device_ns != 0},
             device_ns);
}

void Decoder::Decode(const GraphTraceActivity& a) {
  if (!Ended(a) || !Room<GraphLaunchRecord>()) return;
  WriteSpan(GraphLaunchRecord{.correlation = a.correlation,
                              .device = a.device,
                              .context = a.context,
                              .stream = a.stream,
                              .graph = a.graph},
            a.start, a.end);
}

void Decoder::Decode(const OverheadActivity& a) {
  if (!Ended(a) || !Room<CudaOverheadRecord>()) return;
  constexpr uint32_t kObjectThread = 2;
  WriteSpan(CudaOverheadRecord{.type = a.overhead_kind,
                               .tid = a.object_kind == kObjectThread ? a.object[1] : 0,
                               .correlation = version_ >= kVersion12_3 ? a.correlation : 0},
            a.start, a.end);
}

void Decoder::Decode(const MemoryActivity& a) {
  if (!Room<GpuMemoryRecord>()) return;
  out_.Write(GpuMemoryRecord{.address = a.address,
                             .bytes = a.bytes,
                             .correlation = a.correlation,
                             .device = a.device,
                             .context = a.context,
                             .stream = a.stream,
                             .operation = a.operation,
                             .memory_kind = a.memory_kind,
                             .pool_address = a.pool_address,
                             .pool_bytes = a.pool_size,
                             .pool_used_bytes = a.pool_used},
             a.timestamp);
}

void Decoder::Decode(const MemoryPoolActivity& a) {
  if (!Room<GpuMemoryPoolRecord>()) return;
  out_.Write(GpuMemoryPoolRecord{.address = a.address,
                                 .bytes = a.size,
                                 .used_bytes = a.used,
                                 .release_threshold_bytes = a.release_threshold,
                                 .bytes_to_keep = a.bytes_to_keep,
                                 .device = a.device,
                                 .correlation = a.correlation,
                                 .operation = a.operation,
                                 .pool_type = a.pool_type},
             a.timestamp);
}

void Decoder::Decode(const DeviceActivity& a) {
  AddFact(
      guard_,
      GpuDeviceRecord{.memory_bytes = a.memory_bytes,
                      .memory_bandwidth_bytes_per_s = a.memory_bandwidth_kb_per_s * 1000,
                      .l2_bytes = a.l2_bytes,
                      .device = a.id,
                      .compute_major = a.compute_major,
                      .compute_minor = a.compute_minor,
                      .sm_count = a.sm_count,
                      .clock_khz = a.clock_khz,
                      .max_threads_per_sm = a.max_warps_per_sm * a.warp_threads,
                      .max_blocks_per_sm = a.max_blocks_per_sm,
                      .max_registers_per_sm = a.max_registers_per_sm,
                      .max_shared_bytes_per_sm = a.max_shared_per_sm,
                      .max_registers_per_block = a.max_registers_per_block,
                      .max_shared_bytes_per_block = a.max_shared_per_block,
                      .warp_threads = a.warp_threads},
      {{offsetof(GpuDeviceRecord, name), a.name, a.name != nullptr ? std::strlen(a.name) : 0},
       {offsetof(GpuDeviceRecord, uuid), reinterpret_cast<const char*>(a.uuid), sizeof a.uuid}});
}

void Decoder::Decode(const ContextActivity& a) {
  AddFact(guard_,
          GpuContextRecord{.context = a.context, .device = a.device, .null_stream = a.null_stream},
          {});
}

void Decoder::Decode(const StreamActivity& a) {
  AddFact(guard_,
          GpuStreamRecord{.context = a.context,
                          .stream = a.stream,
                          .priority = static_cast<int32_t>(a.priority),
                          .flag = a.flag},
          {});
}

void Decoder::Decode(const JitActivity& a) {
  const size_t path_bytes = a.cache_path != nullptr ? std::strlen(a.cache_path) : 0;
  if (!Ended(a) || !Room<CudaJitRecord>(StringBytes(path_bytes))) return;
  WriteSpan(CudaJitRecord{.correlation = a.correlation,
                          .tid = version_ >= kVersion12_8 ? a.thread : 0,
                          .device = a.device,
                          .entry_type = a.entry_type,
                          .operation = a.operation,
                          .cache_bytes = a.cache_size,
                          .cache_path = out_.Intern(a.cache_path, path_bytes)},
            a.start, a.end);
}

void Decoder::Decode(const UnifiedMemoryActivity& a) {
  if (!Room<UnifiedMemoryRecord>()) return;
  const uint64_t end = a.end >= a.start ? a.end : a.start;
  WriteSpan(UnifiedMemoryRecord{.counter = a.counter,
                                .value = a.value,
                                .address = a.address,
                                .source = a.source,
                                .destination = a.destination,
                                .flags = a.flags},
            a.start, end);
}

void Decoder::Decode(const Activity* record) {
  const bool fact = record->kind == kDevice || record->kind == kContext || record->kind == kStream;
  if (filter_.facts_only && !fact) return;
  ++totals.records;
  switch (record->kind) {
#define DECODE_AS(kind, Type) \
  case kind:                  \
    return Decode(*reinterpret_cast<const Type*>(record))
    DECODE_AS(kConcurrentKernel, KernelActivity);
    DECODE_AS(kRuntime, ApiActivity);
    DECODE_AS(kDriver, ApiActivity);
    DECODE_AS(kMemcpy, MemcpyActivity);
    DECODE_AS(kMemcpyPeer, MemcpyPeerActivity);
    DECODE_AS(kMemset, MemsetActivity);
    DECODE_AS(kSynchronization, SynchronizationActivity);
    DECODE_AS(kCudaEvent, CudaEventActivity);
    DECODE_AS(kGraphTrace, GraphTraceActivity);
    DECODE_AS(kOverhead, OverheadActivity);
    DECODE_AS(kMemory, MemoryActivity);
    DECODE_AS(kMemoryPool, MemoryPoolActivity);
    DECODE_AS(kDevice, DeviceActivity);
    DECODE_AS(kContext, ContextActivity);
    DECODE_AS(kStream, StreamActivity);
    DECODE_AS(kJit, JitActivity);
    DECODE_AS(kUnifiedMemoryCounter, UnifiedMemoryActivity);
#undef DECODE_AS
    default:
      --totals.records;  // a kind that was not asked for
  }
}

}  // namespace

DecodeTotals DecodeBuffer(const Library& library, DecodeFilter filter, uint8_t* buffer,
                          size_t valid_bytes) {
  Guard guard;
  if (!guard) return {};
  const CallsOut calls_out(guard);
  uint64_t now_ns = 0;
  library.cuptiGetTimestamp(&now_ns);
  Decoder decoder(guard, library.version, filter, static_cast<int64_t>(now_ns));
  Activity* record = nullptr;
  while (library.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == kSuccess) {
    decoder.Decode(record);
  }
  return decoder.totals;
}

}  // namespace batchlight::inject::cupti
