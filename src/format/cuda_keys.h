// Binary keys of CUDA records: what many events share is stored once in a chunk, as a string. A
// reader sees the bytes of a shorter (older) key as zero-extended.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace batchlight::format {

// GpuWait::stream: the default stream of the wait's context, whose number stands in GpuContext.
inline constexpr uint32_t kDefaultStream = 0xfffffffe;

// Kernel::launch. Numbers as CUPTI has them.
struct KernelLaunchKey {
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint32_t registers_per_thread;
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_bytes;
  uint32_t shared_executed_bytes;
  uint32_t local_bytes_per_thread;
  uint8_t launch_type;   // 0 regular, 1 cooperative, 2 cooperative on several devices
  uint8_t cache_config;  // low half requested, high half executed
  uint8_t shared_limit_config;
  uint8_t reserved;
  uint64_t local_bytes_total;
};
static_assert(sizeof(KernelLaunchKey) == 80);

// Memcpy::place and Memset::place.
struct MemoryPlaceKey {
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t source_device;  // copies between devices, else equal to device
  uint32_t destination_device;
  uint8_t copy_kind;         // CUpti_ActivityMemcpyKind, 0 for a set
  uint8_t source_kind;       // CUpti_ActivityMemoryKind
  uint8_t destination_kind;  // also of a set
  uint8_t asynchronous;
};
static_assert(sizeof(MemoryPlaceKey) == 24);

template <typename Key>
Key ReadKey(std::string_view bytes) {
  Key key{};
  const size_t count = bytes.size() < sizeof key ? bytes.size() : sizeof key;
  if (count > 0) std::memcpy(&key, bytes.data(), count);
  return key;
}

}  // namespace batchlight::format
