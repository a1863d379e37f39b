#include "inject/cupti/call_stacks.h"

#include "inject/buffer/thread_stream.h"
#include "inject/collect/step_detail.h"
#include "inject/rt/control.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint16_t kRuntimeCalls[] = {
#define TRACED(cbid, name) cbid,
#define QUIET(cbid, name)
#include "format/cuda_runtime_calls.def"
#undef TRACED
#undef QUIET
};
constexpr uint16_t kDriverCalls[] = {
#define TRACED(cbid, name) cbid,
#define QUIET(cbid, name)
#include "format/cuda_driver_calls.def"
#undef TRACED
#undef QUIET
};
constexpr uint16_t kDriverLaunches[] = {
    307,  // cuLaunchKernel
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
};

}  // namespace

void EnableCallStackCallbacks(const Library& library, void* subscriber) {
  const auto enable = [&](uint32_t domain, const auto& calls) {
    for (const uint16_t cbid : calls) {
      library.cuptiEnableCallback(1, subscriber, domain, cbid);
    }
  };
  if (Traces(format::kTraceCallStacks)) {
    enable(kRuntimeApi, kRuntimeCalls);
    enable(kDriverApi, kDriverCalls);
  } else if (Traces(format::kTraceLines)) {
    enable(kDriverApi, kDriverLaunches);
  }
}

void OnCallStack(const CallbackData& data) {
  constexpr uint32_t kEnter = 0;
  if (data.site != kEnter || !stacks::IsOn() || !Collecting() || IsPlainStep()) return;
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  constexpr size_t kBytes = sizeof(format::CudaCallStackRecord);
  if (stream == nullptr || !stream->Ensure(kBytes)) return;
  const stacks::Place place = stacks::CallBegins(guard, *stream);
  if (!place.is_known) return;
  const uint32_t stack = place.stack != 0 ? place.stack : stacks::Define(*stream, kBytes);
  if (stack == 0) return;
  stream->Write(format::CudaCallStackRecord{.correlation = data.correlation, .stack = stack});
}

}  // namespace batchlight::inject::cupti
