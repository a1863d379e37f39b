#include "inject/cupti/call_stacks.h"

#include "inject/buffer/thread_stream.h"
#include "inject/collect/step_detail.h"
#include "inject/cupti/driver_launches.h"
#include "inject/cupti/native_call_stacks.h"
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
bool WantsPythonStack(uint32_t domain, uint32_t cbid) {
  if (Traces(format::kTraceCallStacks)) return true;
  return Traces(format::kTraceLines) && domain == kDriverApi && IsOneOf(kKernelLaunches, cbid);
}

void WritePythonStack(const CallbackData& data) {
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

}  // namespace

bool WantsCallStack(const Options& options, uint32_t domain, uint32_t cbid) {
  return WantsPythonStack(domain, cbid) || WantsNativeStack(options, domain, cbid);
}

void EnableCallStackCallbacks(const Library& library, const Options& options, void* subscriber) {
  PrepareNativeCallStacks(options);
  const auto enable = [&](uint32_t domain, const auto& calls) {
    for (const uint16_t cbid : calls) {
      if (WantsCallStack(options, domain, cbid)) {
        library.cuptiEnableCallback(1, subscriber, domain, cbid);
      }
    }
  };
  enable(kRuntimeApi, kRuntimeCalls);
  enable(kDriverApi, kDriverCalls);
}

void OnCallStack(const Options& options, uint32_t domain, uint32_t cbid, const CallbackData& data) {
  constexpr uint32_t kEnter = 0;
  if (!Collecting() || IsPlainStep()) return;
  if (options.WantsBacktraces()) OnNativeCallStack(options, domain, cbid, data);
  if (data.site == kEnter && stacks::IsOfCalls() && WantsPythonStack(domain, cbid)) {
    WritePythonStack(data);
  }
}

}  // namespace batchlight::inject::cupti
