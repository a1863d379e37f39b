#include "inject/cupti/kinds.h"

#include <cstddef>

namespace batchlight::inject::cupti {
namespace {

// What is recorded without --cuda-trace-all-apis.
constexpr uint16_t kTracedRuntimeCalls[] = {
#define TRACED(cbid, name) cbid,
#define QUIET(cbid, name)
#include "format/cuda_runtime_calls.def"
#undef TRACED
#undef QUIET
};
constexpr uint16_t kTracedDriverCalls[] = {
#define TRACED(cbid, name) cbid,
#define QUIET(cbid, name)
#include "format/cuda_driver_calls.def"
#undef TRACED
#undef QUIET
};

template <class T>
void SetAttribute(const Library& library, uint32_t attribute, T value) {
  size_t bytes = sizeof value;
  if (library.cuptiActivitySetAttribute != nullptr) {
    library.cuptiActivitySetAttribute(attribute, &bytes, &value);
  }
}

// One API: all of its calls, or those of the list. CUPTI refuses calls that this version of it
// lacks, which is fine. What was enabled call by call must be disabled call by call: after
// cuptiActivityDisable() of the kind, calls that are enabled again give no records (13.0).
template <size_t kCount>
void SetCalls(const Library& library, bool on, ActivityKind kind, bool all,
              uint32_t (*enable_call)(uint32_t, uint8_t), const uint16_t (&traced)[kCount]) {
  if (all || enable_call == nullptr) {
    on ? library.cuptiActivityEnable(kind) : library.cuptiActivityDisable(kind);
    return;
  }
  for (const uint16_t cbid : traced) enable_call(cbid, on ? 1 : 0);
}

struct Kind {
  ActivityKind kind;
  bool on;
  const char* what;  // nullptr: kernels
};
constexpr size_t kKindCount = 11;

// If kGraphTrace is enabled after the program has made a graph, that graph's next replay crashes
// (CUPTI 13.0.1). So graphs are recorded kernel by kernel unless one capture lasts from cuInit on.
// What replays do when it is disabled between windows is unknown, so windows never enable it.
void ListKinds(const Options& o, bool whole_graphs, Kind (&kinds)[kKindCount]) {
  const Kind list[kKindCount] = {
      {kGraphTrace, o.kernels && !o.graph_nodes && whole_graphs, "CUDA graphs as a whole"},
      {kMemcpy, o.copies, "copies"},
      {kMemset, o.copies, "sets"},
      {kMemcpyPeer, o.copies, "peer copies"},
      {kSynchronization, o.waits, "CUPTI's waits"},
      {kOverhead, o.overhead, "overheads"},
      {kJit, o.jit, "compilations"},
      {kCudaEvent, o.events, "CUDA events"},
      {kMemory, o.memory_usage, "allocations"},
      {kMemoryPool, o.memory_usage, "memory pools"},
      {kConcurrentKernel, o.kernels, nullptr},
  };
  for (size_t i = 0; i < kKindCount; ++i) kinds[i] = list[i];
}

}  // namespace

void SetAllCalls(const Library& library, const Options& options, bool on) {
  if (options.runtime_calls) {
    SetCalls(library, on, kRuntime, options.all_calls, library.cuptiActivityEnableRuntimeApi,
             kTracedRuntimeCalls);
  }
  if (options.driver_calls) {
    SetCalls(library, on, kDriver, options.all_calls, library.cuptiActivityEnableDriverApi,
             kTracedDriverCalls);
  }
}

const char* ResultText(const Library& library, uint32_t result) {
  switch (result) {
    case kErrorInsufficientPrivileges:
      return "the driver lets only administrators profile: load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0, or run in a container with CAP_SYS_ADMIN";
    case kErrorMultipleSubscribers:
      return "another profiler uses CUPTI in this process (torch.profiler, nsys, ncu, "
             "compute-sanitizer): it keeps it, and GPU work is not recorded here";
    default: {
      const char* text = nullptr;
      if (library.cuptiGetResultString != nullptr &&
          library.cuptiGetResultString(result, &text) == kSuccess && text != nullptr) {
        return text;
      }
      return "CUPTI failed with an unknown result";
    }
  }
}

void SetAttributes(const Library& library) {
  if (library.cuptiSetThreadIdType != nullptr) library.cuptiSetThreadIdType(kThreadIdSystem);
  SetAttribute<uint8_t>(library, kZeroedOutActivityBuffer, 1);
  if (library.version >= kVersion12_3) {
    SetAttribute<uint8_t>(library, kPerThreadActivityBuffer, 1);
  }
  // When device buffers run short, the launching thread allocates more: have enough from the start.
  SetAttribute<size_t>(library, kDeviceBufferPreAllocate, 4);
}

void EnableFactKinds(const Library& library, const Options& options) {
  library.cuptiActivityEnable(kDevice);
  library.cuptiActivityEnable(kContext);
  if (options.streams) library.cuptiActivityEnable(kStream);
}

void EnableKinds(const Library& library, const Options& options, bool whole_graphs,
                 Refused refused) {
  if (library.cuptiActivityEnableAllSyncRecords != nullptr) {
    library.cuptiActivityEnableAllSyncRecords(0);  // not every poll of an event
  }
  if (options.events && library.cuptiActivityEnableCudaEventDeviceTimestamps != nullptr) {
    library.cuptiActivityEnableCudaEventDeviceTimestamps(1);
  }
  SetAllCalls(library, options, true);
  Kind kinds[kKindCount];
  ListKinds(options, whole_graphs, kinds);
  uint32_t results[kKindCount] = {};
  for (size_t i = 0; i < kKindCount; ++i) {
    if (kinds[i].on) results[i] = library.cuptiActivityEnable(kinds[i].kind);
  }
  // If kernels fail, only that is reported: the other kinds have failed for the same reason.
  constexpr size_t kKernels = kKindCount - 1;
  if (results[kKernels] != kSuccess)
    return refused(nullptr, ResultText(library, results[kKernels]));
  for (size_t i = 0; i < kKernels; ++i) {
    // Overheads and compilations are not asked for by name: an older CUPTI may not know them.
    const bool too_old =
        results[i] == kErrorInvalidKind && (kinds[i].kind == kOverhead || kinds[i].kind == kJit);
    if (results[i] != kSuccess && !too_old) {
      refused(kinds[i].what, ResultText(library, results[i]));
    }
  }
}

void EnablePageFaults(const Library& library, const Options& options, Refused refused) {
  if (!options.cpu_page_faults && !options.gpu_page_faults) return;
  constexpr uint32_t kProcessAllDevices = 2, kCpuFaults = 3, kGpuFaults = 4;
  constexpr uint32_t kBytesToDevice = 1, kBytesToHost = 2;
  UnifiedMemoryConfig config[] = {
      {kProcessAllDevices, kBytesToDevice, 0, 1},
      {kProcessAllDevices, kBytesToHost, 0, 1},
      {kProcessAllDevices, kCpuFaults, 0, options.cpu_page_faults},
      {kProcessAllDevices, kGpuFaults, 0, options.gpu_page_faults},
  };
  uint32_t result = kErrorNotSupported;
  if (library.cuptiActivityConfigureUnifiedMemoryCounter != nullptr) {
    result = library.cuptiActivityConfigureUnifiedMemoryCounter(config, 4);
  }
  if (result == kSuccess) result = library.cuptiActivityEnable(kUnifiedMemoryCounter);
  if (result != kSuccess) refused("page faults of unified memory", ResultText(library, result));
}

void DisableKinds(const Library& library, const Options& options, bool whole_graphs) {
  Kind kinds[kKindCount];
  ListKinds(options, whole_graphs, kinds);
  for (const Kind& kind : kinds) {
    if (kind.on) library.cuptiActivityDisable(kind.kind);
  }
  if (options.cpu_page_faults || options.gpu_page_faults) {
    library.cuptiActivityDisable(kUnifiedMemoryCounter);
  }
  SetAllCalls(library, options, false);
}

}  // namespace batchlight::inject::cupti
