// Exported entry points: the loaders of CUDA and NVTX call these.
#include "inject/entry/attach.h"

#define BATCHLIGHT_EXPORT extern "C" __attribute__((visibility("default")))

// CUDA_INJECTION64_PATH: called by the driver. Attaching at load has done the work.
BATCHLIGHT_EXPORT int InitializeInjection() { return batchlight::inject::Attach() ? 1 : 0; }
