// Exported entry points: the loaders of CUDA and NVTX call these.
#include "inject/entry/attach.h"
#if BATCHLIGHT_GPU
#include "inject/cupti/collector.h"
#endif

#define BATCHLIGHT_EXPORT extern "C" __attribute__((visibility("default")))

// CUDA_INJECTION64_PATH: called by the driver, inside cuInit.
BATCHLIGHT_EXPORT int InitializeInjection() {
  if (!batchlight::inject::Attach()) return 0;
#if BATCHLIGHT_GPU
  batchlight::inject::cupti::StartCollector();
#endif
  return 1;
}
