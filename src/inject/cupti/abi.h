// What CUPTI 12 and 13 look like in memory, declared here so that neither building nor running
// needs CUDA's headers. Later CUPTI versions only append to a record, so one declaration serves
// all of them: fields that older versions lack say since when they exist and are read only then.
// abi_check_test.cpp compares every offset with the real headers where a toolkit is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace batchlight::inject::cupti {

inline constexpr uint32_t kSuccess = 0;
inline constexpr uint32_t kErrorInvalidKind = 21;
inline constexpr uint32_t kErrorNotSupported = 27;
inline constexpr uint32_t kErrorInsufficientPrivileges = 35;
inline constexpr uint32_t kErrorMultipleSubscribers = 39;

// Versions that cuptiGetVersion returns; from 13.0 on major * 10000 + minor * 100 + update.
inline constexpr uint32_t kVersion12_0 = 19;
inline constexpr uint32_t kVersion12_3 = 21;
inline constexpr uint32_t kVersion12_4 = 22;
inline constexpr uint32_t kVersion12_8 = 26;
inline constexpr uint32_t kVersion12_9 = 27;
inline constexpr uint32_t kVersion14_0 = 140000;

enum ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kUnifiedMemoryCounter = 25,
  kCudaEvent = 36,
  kStream = 37,
  kSynchronization = 38,
  kMemory = 49,  // CUPTI_ACTIVITY_KIND_MEMORY2
  kMemoryPool = 50,
  kGraphTrace = 51,
  kJit = 52,
};

enum Attribute : uint32_t {
  kDeviceBufferSize = 0,
  kDeviceBufferPoolLimit = 2,
  kZeroedOutActivityBuffer = 5,
  kDeviceBufferPreAllocate = 6,
  kPerThreadActivityBuffer = 9,
};

enum CallbackDomain : uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3 };

// Callback ids of the resource domain.
inline constexpr uint32_t kContextCreated = 1;
inline constexpr uint32_t kContextDestroyStarting = 2;
inline constexpr uint32_t kModuleLoaded = 6;
inline constexpr uint32_t kModuleUnloads = 7;
inline constexpr uint32_t kGraphNodeCreated = 13;
inline constexpr uint32_t kGraphNodeCloned = 20;

// Callback ids of calls that start and stop profiling (cuda_*_calls.def).
inline constexpr uint32_t kRuntimeProfilerStart = 171;
inline constexpr uint32_t kRuntimeProfilerStop = 172;
inline constexpr uint32_t kDriverProfilerStart = 308;
inline constexpr uint32_t kDriverProfilerStop = 309;

inline constexpr uint32_t kFlushForced = 1;
inline constexpr uint32_t kThreadIdSystem = 1;

// What the callbacks get, up to the last member that is read.
struct CallbackData {
  uint32_t site;  // 0 enter, 1 exit
  uint32_t padding;
  const char* function_name;
  const void* parameters;
  void* return_value;  // cudaError_t or CUresult, on exit
  const char* symbol_name;
  void* context;
  uint32_t context_id;
  uint32_t padding2;
  uint64_t* correlation_data;  // 64 bits from the callback on enter for the one on exit
  uint32_t correlation;
};
struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};
struct ModuleData {  // ResourceData::descriptor of the module callbacks; good within them alone
  uint32_t module;
  size_t cubin_bytes;
  const char* cubin;
};
struct GraphData {  // ResourceData::descriptor of the graph callbacks
  void* graph;
  void* original_graph;
  void* node;
  void* original_node;
};

// CUPTI packs its records to 8-byte alignment: all members lie at their natural places.
struct Activity {
  uint32_t kind;
};

struct KernelActivity {
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint32_t partitioned_cache[2];
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared;
  int32_t dynamic_shared;
  uint32_t local_per_thread;
  uint32_t local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t carveout[2];
  uint8_t padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit_config;
  uint32_t graph;
  void* access_policy_window;
  uint32_t channel;
  uint32_t channel_type;
  uint32_t cluster[3];
  uint32_t cluster_policy;
  uint64_t local_total_wide;
};

struct ApiActivity {
  uint32_t kind;
  uint32_t cbid;
  uint64_t start;
  uint64_t end;
  uint32_t process;
  uint32_t thread;
  uint32_t correlation;
  uint32_t result;
};

struct MemcpyActivity {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;  // 1 = asynchronous
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t runtime_correlation;
  uint32_t padding;
  void* reserved;
  uint64_t graph_node;
};

struct MemcpyPeerActivity {
  uint32_t kind;
  uint8_t copy_kind;
  uint8_t source_kind;
  uint8_t destination_kind;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t source_device;
  uint32_t source_context;
  uint32_t destination_device;
  uint32_t destination_context;
  uint32_t correlation;
  void* reserved;
  uint64_t graph_node;
};

struct MemsetActivity {
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint16_t flags;
  uint16_t memory_kind;
  uint32_t padding;
  void* reserved;
  uint64_t graph_node;
};

struct SynchronizationActivity {
  uint32_t kind;
  uint32_t type;
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
};

struct CudaEventActivity {
  uint32_t kind;
  uint32_t correlation;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
  uint32_t padding;
  // since 12.8
  uint32_t device;
  uint32_t padding2;
  void* reserved;
  uint64_t device_timestamp;
};

struct GraphTraceActivity {
  uint32_t kind;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph;
  uint32_t context;
  uint32_t stream;
};

struct OverheadActivity {
  uint32_t kind;
  uint32_t overhead_kind;
  uint32_t object_kind;  // 2 = thread
  uint32_t object[3];    // thread: process, thread
  uint64_t start;
  uint64_t end;
  uint32_t correlation;  // since 12.2
  uint32_t reserved;
};

struct MemoryActivity {
  uint32_t kind;
  uint32_t operation;
  uint32_t memory_kind;
  uint32_t correlation;
  uint64_t address;
  uint64_t bytes;
  uint64_t timestamp;
  uint64_t pc;
  uint32_t process;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  const char* name;
  uint32_t is_async;
  uint32_t padding;
  uint32_t pool_type;
  uint32_t padding2;
  uint64_t pool_address;
  uint64_t pool_release_threshold;
  uint64_t pool_size;
  uint64_t pool_used;
};

struct MemoryPoolActivity {
  uint32_t kind;
  uint32_t operation;
  uint32_t pool_type;
  uint32_t correlation;
  uint32_t process;
  uint32_t device;
  uint64_t bytes_to_keep;
  uint64_t address;
  uint64_t size;
  uint64_t release_threshold;
  uint64_t timestamp;
  uint64_t used;
};

struct DeviceActivity {
  uint32_t kind;
  uint32_t flags;
  uint64_t memory_bandwidth_kb_per_s;
  uint64_t memory_bytes;
  uint32_t constant_memory;
  uint32_t l2_bytes;
  uint32_t warp_threads;
  uint32_t clock_khz;
  uint32_t copy_engines;
  uint32_t sm_count;
  uint32_t max_ipc;
  uint32_t max_warps_per_sm;
  uint32_t max_blocks_per_sm;
  uint32_t max_shared_per_sm;
  uint32_t max_registers_per_sm;
  uint32_t max_registers_per_block;
  uint32_t max_shared_per_block;
  uint32_t max_threads_per_block;
  uint32_t max_block_dim[3];
  uint32_t max_grid_dim[3];
  uint32_t compute_major;
  uint32_t compute_minor;
  uint32_t id;
  uint32_t ecc;
  uint8_t uuid[16];
  const char* name;
};

struct ContextActivity {
  uint32_t kind;
  uint32_t context;
  uint32_t device;
  uint16_t api;
  uint16_t null_stream;
  uint32_t parent_context;  // since 12.5
};

struct StreamActivity {
  uint32_t kind;
  uint32_t context;
  uint32_t stream;
  uint32_t priority;
  uint32_t flag;
  uint32_t correlation;
};

struct JitActivity {
  uint32_t kind;
  uint32_t entry_type;
  uint32_t operation;
  uint32_t device;
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t padding;
  uint64_t operation_correlation;
  uint64_t cache_size;
  const char* cache_path;
  uint32_t process;  // since 12.8
  uint32_t thread;
};

struct UnifiedMemoryActivity {
  uint32_t kind;
  uint32_t counter;
  uint64_t value;
  uint64_t start;
  uint64_t end;
  uint64_t address;
  uint32_t source;
  uint32_t destination;
  uint32_t stream;
  uint32_t process;
  uint32_t flags;
  uint32_t padding;
};

struct UnifiedMemoryConfig {
  uint32_t scope;  // 2 = the process on all devices
  uint32_t counter;
  uint32_t device;
  uint32_t enable;
};

using BufferRequested = void (*)(uint8_t** buffer, size_t* bytes, size_t* max_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                 size_t valid_bytes);
using Callback = void (*)(void* user, uint32_t domain, uint32_t cbid, const void* data);

}  // namespace batchlight::inject::cupti
