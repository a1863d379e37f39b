// What CUPTI's PC sampling looks like in memory, as of CUDA 12.4 and 13.0. As in abi.h: declared
// here so that no headers are needed, and compared with NVIDIA's by tests/cuda/abi_check.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::cupti {

struct PcStallReason {
  uint32_t reason;  // index of those that the context has
  uint32_t samples;
};

// From CUDA 12.4 on it ends with `correlation`; an array of shorter ones would be misread.
struct PcData {
  size_t size;
  uint64_t cubin;
  uint64_t offset;
  uint32_t function_index;
  uint32_t pad;
  char* function;
  size_t reason_count;
  PcStallReason* reasons;
  uint32_t correlation;
};

struct PcSamplingData {
  size_t size;
  size_t room;  // of `pcs`
  uint64_t samples;
  uint64_t dropped;
  size_t count;  // of `pcs`
  size_t remaining;
  uint64_t range;
  PcData* pcs;
  uint64_t foreign;
  uint8_t hardware_buffer_full;
};

enum PcAttribute : uint32_t {
  kSamplingPeriod = 1,
  kScratchBufferBytes = 3,
  kHardwareBufferBytes = 4,
  kCollectionMode = 5,
  kStartStopControl = 6,
  kDataBuffer = 8,
  kWorkerSleepMs = 9,
};
enum PcCollectionMode : uint32_t { kContinuous = 1, kKernelSerialized = 2 };

struct PcConfiguration {
  uint32_t attribute;
  uint32_t status;
  union {
    uint64_t all[3];
    uint32_t word;
    size_t bytes;
    void* pointer;
  } value;
};

struct PcConfigurationParams {
  size_t size;
  void* priv;
  void* context;
  size_t count;
  PcConfiguration* attributes;
};

// Enable, Disable, Start, Stop.
struct PcContextParams {
  size_t size;
  void* priv;
  void* context;
};

struct PcGetDataParams {
  size_t size;
  void* priv;
  void* context;
  void* data;
};

struct PcReasonCountParams {
  size_t size;
  void* priv;
  void* context;
  size_t* count;
};

struct PcReasonsParams {
  size_t size;
  void* priv;
  void* context;
  size_t count;
  uint32_t* indices;
  char** names;  // of kPcReasonBytes each
};
inline constexpr size_t kPcReasonBytes = 128;

struct CubinCrcParams {
  size_t size;
  size_t cubin_bytes;
  const void* cubin;
  uint64_t crc;
};

}  // namespace batchlight::inject::cupti
