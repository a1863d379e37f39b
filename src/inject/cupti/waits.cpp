#include "inject/cupti/waits.h"

#include "format/cuda_keys.h"
#include "inject/collect/step_detail.h"
#include "inject/cupti/gpu_writer.h"
#include "inject/rt/control.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
// GpuWait's types.
enum WaitType : uint8_t { kForEvent = 1, kStreamForEvent = 2, kForStream = 3, kForContext = 4 };

struct WaitCall {
  uint16_t cbid;
  WaitType type;
  bool per_thread_stream;  // the default stream is the thread's
};
// Callback ids as in cuda_*_calls.def. What a call's parameters begin with follows from its type
// (CUPTI's generated_cuda_meta.h and generated_cuda_runtime_api_meta.h).
constexpr WaitCall kRuntimeWaits[] = {
    {126, kForContext, false},      // cudaThreadSynchronize
    {131, kForStream, false},       // cudaStreamSynchronize
    {137, kForEvent, false},        // cudaEventSynchronize
    {147, kStreamForEvent, false},  // cudaStreamWaitEvent
    {165, kForContext, false},      // cudaDeviceSynchronize
    {239, kForStream, true},        // cudaStreamSynchronize_ptsz
    {247, kStreamForEvent, true},   // cudaStreamWaitEvent_ptsz
};
constexpr WaitCall kDriverWaits[] = {
    {17, kForContext, false},       // cuCtxSynchronize
    {121, kForEvent, false},        // cuEventSynchronize
    {126, kForStream, false},       // cuStreamSynchronize
    {295, kStreamForEvent, false},  // cuStreamWaitEvent
    {436, kStreamForEvent, true},   // cuStreamWaitEvent_ptsz
    {440, kForStream, true},        // cuStreamSynchronize_ptsz
    {800, kForContext, false},      // cuCtxSynchronize_v2
};

// Driver calls that the runtime makes for its own wait are not a second wait.
__thread bool t_in_runtime_wait;

const WaitCall* Find(uint32_t domain, uint32_t cbid) {
  const auto find = [cbid](const auto& calls) -> const WaitCall* {
    for (const WaitCall& call : calls) {
      if (call.cbid == cbid) return &call;
    }
    return nullptr;
  };
  return domain == kRuntimeApi ? find(kRuntimeWaits) : find(kDriverWaits);
}

bool Succeeded(const CallbackData& data) {
  return data.return_value != nullptr && *static_cast<const uint32_t*>(data.return_value) == 0;
}

// The stream as CUPTI numbers it in its records. Asked only after a call that succeeded, and only
// for a stream that is not being captured: asking during a capture is an error, which would
// invalidate the program's capture. A stream that was waited for to its end is not being captured,
// and the legacy default stream cannot be; a stream that is made to wait for an event may well be.
// CUPTI 13.0 does not give the default stream's number this way, but in its record of the context.
uint32_t StreamId(const Library& library, const WaitCall& call, const CallbackData& data) {
  constexpr uintptr_t kPerThread = 2;  // cudaStreamPerThread; 0 and 1 are the legacy stream
  if (data.parameters == nullptr || !Succeeded(data)) return kNone;
  void* stream = *static_cast<void* const*>(data.parameters);
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  const bool per_thread = handle == kPerThread || (stream == nullptr && call.per_thread_stream);
  if (handle <= kPerThread && !per_thread) return format::kDefaultStream;
  if (call.type != kForStream || library.cuptiGetStreamIdEx == nullptr) return kNone;
  uint32_t id = kNone;
  return library.cuptiGetStreamIdEx(nullptr, per_thread ? nullptr : stream, per_thread, &id) ==
                 kSuccess
             ? id
             : kNone;
}

// CUPTI gives its number of an event only in its records of events. Without those, the handle's
// bits tell one event from another.
uint32_t EventId(const Options& options, const WaitCall& call, const CallbackData& data) {
  if (options.events || data.parameters == nullptr) return kNone;
  const size_t place = call.type == kStreamForEvent ? 1 : 0;
  return static_cast<uint32_t>(
      reinterpret_cast<uintptr_t>(static_cast<void* const*>(data.parameters)[place]) >> 4);
}

void WriteWait(const Library& library, const Options& options, const WaitCall& call,
               const CallbackData& data) {
  const uint64_t begin = *data.correlation_data;
  uint64_t now = 0;
  if (begin == 0 || library.cuptiGetTimestamp(&now) != kSuccess || now < begin) return;
  const bool has_stream = call.type == kForStream || call.type == kStreamForEvent;
  const bool has_event = call.type == kForEvent || call.type == kStreamForEvent;
  const uint32_t stream = has_stream ? StreamId(library, call, data) : kNone;
  const uint32_t event = has_event ? EventId(options, call, data) : kNone;
  Guard guard;
  if (!guard) return;
  GpuWriter out(guard, static_cast<int64_t>(now));
  if (!out.Ensure(sizeof(format::GpuWaitRecord))) return;
  out.Write(format::GpuWaitRecord{.duration_ns = static_cast<uint32_t>(now - begin),
                                  .correlation = data.correlation,
                                  .context = data.context_id,
                                  .stream = stream,
                                  .type = call.type,
                                  .event = event,
                                  .duration_high_ns = static_cast<uint32_t>((now - begin) >> 32)},
            begin);
}

}  // namespace

bool ReadsWaits(const Options& options) {
  return !options.waits && options.streams && (options.runtime_calls || options.driver_calls);
}

void EnableWaitCallbacks(const Library& library, void* subscriber, const Options& options) {
  if (!ReadsWaits(options)) return;
  if (options.runtime_calls) {
    for (const WaitCall& call : kRuntimeWaits) {
      library.cuptiEnableCallback(1, subscriber, kRuntimeApi, call.cbid);
    }
  }
  if (options.driver_calls) {
    for (const WaitCall& call : kDriverWaits) {
      library.cuptiEnableCallback(1, subscriber, kDriverApi, call.cbid);
    }
  }
}

bool OnWaitCall(const Library& library, const Options& options, uint32_t domain, uint32_t cbid,
                const CallbackData& data) {
  const WaitCall* call = Find(domain, cbid);
  if (call == nullptr) return false;
  const bool enter = data.site == 0;
  if (domain == kRuntimeApi) {
    t_in_runtime_wait = enter;
  } else if (t_in_runtime_wait) {
    return true;
  }
  if (data.correlation_data == nullptr) return true;
  if (enter) {
    *data.correlation_data = 0;
    if (Collecting() && !IsPlainStep()) library.cuptiGetTimestamp(data.correlation_data);
  } else if (Collecting() && !IsPlainStep()) {
    WriteWait(library, options, *call, data);
  }
  return true;
}

}  // namespace batchlight::inject::cupti
