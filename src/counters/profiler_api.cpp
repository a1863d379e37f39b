#include "counters/profiler_api.h"

#include <dlfcn.h>

namespace batchlight::counters {
namespace {

template <typename Params>
void Find(void* library, const char* name, uint32_t (*&function)(Params*)) {
  function = reinterpret_cast<uint32_t (*)(Params*)>(dlsym(library, name));
}

}  // namespace

bool ProfilerApi::Resolve(void* library) {
  bool complete = true;
#define HOST_SYMBOL(member, name, Params) \
  Find(library, #name, member);           \
  complete = complete && member != nullptr;
#define RANGE_SYMBOL(member, name, Params) Find(library, #name, member);
#define PM_SYMBOL(member, name, Params) Find(library, #name, member);
#include "counters/symbols.def"
  return complete;
}

const char* ExplainResult(uint32_t result) {
  // CUptiResult
  switch (result) {
    case 8:  // OUT_OF_MEMORY
      return "CUPTI found no memory for counters, on the GPU or beside it: leave it some, or read "
             "fewer metrics";
    case 15:  // NOT_INITIALIZED
      return "libnvperf_host.so is not beside libcupti: install the whole package "
             "nvidia-cuda-cupti";
    case 26:  // HARDWARE_BUSY
    case 36:  // OLD_PROFILER_API_INITIALIZED
      return "another program reads the counters of this GPU (ncu, nsys, DCGM): end it, or call "
             "`dcgmi profile --pause`";
    case 35:  // INSUFFICIENT_PRIVILEGES
    case 40:  // VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
      return "the driver lets only administrators read counters: load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0, or run in a container with CAP_SYS_ADMIN";
    case 27:  // NOT_SUPPORTED
    case 33:  // VIRTUALIZED_DEVICE_NOT_SUPPORTED
    case 41:  // CONFIDENTIAL_COMPUTING_NOT_SUPPORTED
    case 43:  // MIG_DEVICE_NOT_SUPPORTED
      return "this GPU, or the way it is shared (MIG, MPS, a virtual machine), lets nobody read "
             "counters";
    case 46:  // INVALID_CHIP_NAME
      return "this CUPTI does not know the GPU: update the package nvidia-cuda-cupti";
    default:
      return nullptr;
  }
}

}  // namespace batchlight::counters
