// Exported entry points: the loaders of CUDA and NVTX call these.
#include "inject/buffer/facts.h"
#include "inject/collect/step_board.h"
#include "inject/entry/attach.h"
#include "inject/entry/export.h"
#include "inject/memory/memory_recorder.h"
#include "inject/nvtx/handlers.h"
#include "inject/osrt/os_recorder.h"
#include "inject/rt/control.h"
#include "inject/timers/timer_api.h"
#if BATCHLIGHT_GPU
#include "inject/counting/counting.h"
#include "inject/cupti/collector.h"
#endif

using namespace batchlight::inject;

// CUDA_INJECTION64_PATH: called by the driver, inside cuInit.
BATCHLIGHT_EXPORT int InitializeInjection() {
  if (!Attach()) return 0;
#if BATCHLIGHT_GPU
  cupti::FollowCollector();
  g_has_board ? cupti::StartCollectorBeforeWindow() : cupti::StartCollector();
#endif
  return 1;
}

// NVTX_INJECTION64_PATH: called once by each copy of the NVTX headers in the process. 1 if we
// listen.
BATCHLIGHT_EXPORT int InitializeInjectionNvtx2(nvtx::GetExportTable* get_export_table) {
  if (get_export_table == nullptr || !Attach()) return 0;
  return nvtx::InstallHandlers(get_export_table) ? 1 : 0;
}

// NVTX 2 is a library of its own, libnvToolsExt.so (older PyTorch links it): another name for the
// same call.
BATCHLIGHT_EXPORT int InitializeInjectionNvtx(nvtx::GetExportTable* get_export_table) {
  return InitializeInjectionNvtx2(get_export_table);
}

BATCHLIGHT_EXPORT int InitializeInjectionNvtxExtension(nvtx::ExtensionModule* module) {
  if (module == nullptr || !Attach()) return 0;
  return nvtx::InstallExtensionHandlers(*module) ? 1 : 0;
}

BATCHLIGHT_EXPORT const osrt::OsApi* batchlight_os_api() {
  return Attach() ? osrt::Api() : nullptr;
}

BATCHLIGHT_EXPORT const memory::MemoryApi* batchlight_memory_api() {
  return Attach() ? memory::Api() : nullptr;
}

BATCHLIGHT_EXPORT const timers::TimerApi* batchlight_timer_api() {
  if (!Attach()) return nullptr;
  static constinit timers::TimerApi api = {nullptr, OpenSessionDir, [](const char* text) {
                                             Guard guard;
                                             if (guard) Reason(guard, "cpu", text);
                                           }};
  api.state = g_state.load(std::memory_order_relaxed);
  return &api;
}
