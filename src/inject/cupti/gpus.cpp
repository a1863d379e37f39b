#include "inject/cupti/gpus.h"

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/cupti/library.h"

namespace batchlight::inject::cupti {
namespace {

template <class F>
F* Find(const char* name) {
  return reinterpret_cast<F*>(DriverSymbol(name));
}

// CUdevice_attribute.
enum Attribute : int {
  kMaxSharedBytesPerBlock = 8,
  kWarpThreads = 10,
  kMaxRegistersPerBlock = 12,
  kClockKhz = 13,
  kSmCount = 16,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kMaxThreadsPerSm = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kMaxSharedBytesPerSm = 81,
  kMaxRegistersPerSm = 82,
  kMaxBlocksPerSm = 106,
};

void TellGpu(int device) {
  auto* attribute_of = Find<int(int*, int, int)>("cuDeviceGetAttribute");
  auto* name_of = Find<int(char*, int, int)>("cuDeviceGetName");
  auto* memory_of = Find<int(size_t*, int)>("cuDeviceTotalMem_v2");
  auto* uuid_of = Find<int(char*, int)>("cuDeviceGetUuid_v2");
  const auto get = [&](Attribute attribute) {
    int value = 0;
    const bool known = attribute_of != nullptr && attribute_of(&value, attribute, device) == 0;
    return known && value > 0 ? static_cast<uint32_t>(value) : 0;
  };
  char name[256] = {}, uuid[16] = {};
  size_t memory = 0;
  if (name_of != nullptr) name_of(name, sizeof name - 1, device);
  if (memory_of != nullptr) memory_of(&memory, device);
  const bool has_uuid = uuid_of != nullptr && uuid_of(uuid, device) == 0;
  using format::GpuDeviceRecord;
  const GpuDeviceRecord record{.memory_bytes = memory,
                               // Two transfers a clock, as CUPTI counts.
                               .memory_bandwidth_bytes_per_s = uint64_t{2} * get(kMemoryClockKhz) *
                                                               1000 * (get(kMemoryBusBits) / 8),
                               .l2_bytes = get(kL2Bytes),
                               .device = static_cast<uint32_t>(device),
                               .compute_major = get(kComputeMajor),
                               .compute_minor = get(kComputeMinor),
                               .sm_count = get(kSmCount),
                               .clock_khz = get(kClockKhz),
                               .max_threads_per_sm = get(kMaxThreadsPerSm),
                               .max_blocks_per_sm = get(kMaxBlocksPerSm),
                               .max_registers_per_sm = get(kMaxRegistersPerSm),
                               .max_shared_bytes_per_sm = get(kMaxSharedBytesPerSm),
                               .max_registers_per_block = get(kMaxRegistersPerBlock),
                               .max_shared_bytes_per_block = get(kMaxSharedBytesPerBlock),
                               .warp_threads = get(kWarpThreads)};
  Guard guard;
  if (!guard) return;
  AddFact(guard, record,
          {{offsetof(GpuDeviceRecord, name), name, std::strlen(name)},
           {offsetof(GpuDeviceRecord, uuid), uuid, has_uuid ? sizeof uuid : 0}});
}

}  // namespace

void TellGpusOfDriver() {
  auto* count_of = Find<int(int*)>("cuDeviceGetCount");
  int count = 0;
  if (count_of == nullptr || count_of(&count) != 0) return;
  for (int device = 0; device < count; ++device) TellGpu(device);
}

}  // namespace batchlight::inject::cupti
