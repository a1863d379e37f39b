#include "inject/cupti/calls.h"

#include "inject/cupti/collector_state.h"
#include "inject/cupti/gpu_writer.h"
#include "inject/rt/control.h"

namespace batchlight::inject::cupti {
namespace {

// The window in which this thread entered the runtime call that it is in; 0 = it is in none. A call
// whose exit was not seen, because the window ended meanwhile, is forgotten with its window.
__thread uint32_t t_runtime_window;

void WriteCall(uint32_t domain, uint32_t cbid, const CallbackData& data, uint64_t end_ns) {
  Guard guard;
  if (!guard) return;
  GpuWriter out(guard, static_cast<int64_t>(end_ns));
  if (!out.Ensure(sizeof(format::CudaCallRecord))) return;
  const uint64_t start_ns = *data.correlation_data;
  const uint64_t duration_ns = end_ns - start_ns;
  out.Write(
      format::CudaCallRecord{
          .duration_ns = static_cast<uint32_t>(duration_ns),
          .correlation = data.correlation,
          .tid = static_cast<uint32_t>(t_thread.stream->tid()),
          .call = cbid | (domain == kDriverApi ? 1u << 31 : 0),
          .result = data.result != nullptr ? *static_cast<const uint32_t*>(data.result) : 0,
          .duration_high_ns = static_cast<uint32_t>(duration_ns >> 32)},
      start_ns);
}

}  // namespace

void OnCall(uint32_t domain, uint32_t cbid, const CallbackData& data) {
  CollectorState& state = g_collector;
  const uint32_t window = state.windows.load(std::memory_order_relaxed);
  const bool runtime = domain == kRuntimeApi;
  if (!runtime && t_runtime_window == window) return;
  if (data.site != kExit) {
    if (runtime) t_runtime_window = window;
    *data.correlation_data = 0;
    state.library.cuptiGetTimestamp(data.correlation_data);
    return;
  }
  if (runtime && t_runtime_window != window) return;  // entered before this window
  t_runtime_window = 0;
  uint64_t end_ns = 0;
  state.library.cuptiGetTimestamp(&end_ns);
  const bool whole = *data.correlation_data != 0 && end_ns >= *data.correlation_data;
  if (whole && Collecting()) WriteCall(domain, cbid, data, end_ns);
}

}  // namespace batchlight::inject::cupti
