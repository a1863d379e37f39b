#include "inject/cupti/native_call_stacks.h"

#include <array>

#include "inject/backtrace/thread_backtraces.h"
#include "inject/buffer/thread_stream.h"
#include "inject/cupti/call_kind.h"
#include "inject/rt/tick_threshold.h"

namespace batchlight::inject::cupti {
namespace {

constexpr size_t kMostCalls = 2048;
using KindTable = std::array<uint8_t, kMostCalls>;

// By callback id.
constexpr KindTable RuntimeKinds() {
  KindTable kinds{};
#define TRACED(cbid, name) kinds[cbid] = KindOfCall(#name);
#define QUIET(cbid, name) kinds[cbid] = KindOfCall(#name);
#include "format/cuda_runtime_calls.def"
#undef TRACED
#undef QUIET
  return kinds;
}
constexpr KindTable DriverKinds() {
  KindTable kinds{};
#define TRACED(cbid, name) kinds[cbid] = KindOfCall(#name);
#define QUIET(cbid, name) kinds[cbid] = KindOfCall(#name);
#include "format/cuda_driver_calls.def"
#undef TRACED
#undef QUIET
  return kinds;
}
constexpr KindTable kRuntimeKinds = RuntimeKinds();
constexpr KindTable kDriverKinds = DriverKinds();

uint8_t KindOf(uint32_t domain, uint32_t cbid) {
  return domain == kRuntimeApi ? kRuntimeKinds[cbid] : kDriverKinds[cbid];
}

// The call that the thread is in.
struct OpenCall {
  uint64_t begin;
  uint32_t correlation;  // 0: in none
  uint32_t domain;
};
__thread OpenCall t_call;
constinit TickThreshold g_thresholds[kCallKinds];
__thread uint64_t t_chunk_ticks;  // of the chunk in which the thread last wrote a stack

void Begin(uint32_t domain, const CallbackData& data) {
  const bool is_inner =
      t_call.correlation != 0 && t_call.domain == kRuntimeApi && domain == kDriverApi;
  if (is_inner) return;
  t_call = {Ticks(), data.correlation, domain};
}

void Write(uint32_t correlation) {
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  constexpr size_t kBytes = sizeof(format::CudaBacktraceRecord);
  if (stream == nullptr || !stream->Ensure(kBytes)) return;
  if (t_chunk_ticks != stream->base_ticks()) {
    t_chunk_ticks = stream->base_ticks();
    for (TickThreshold& threshold : g_thresholds) threshold.Learn();
  }
  if (!backtrace::Walk(guard, format::kMostBacktraceFrames)) return;
  const uint32_t stack = backtrace::Define(guard, *stream, kBytes);
  if (stack == 0) return;
  stream->Write(format::CudaBacktraceRecord{.correlation = correlation, .stack = stack});
}

}  // namespace

void PrepareNativeCallStacks(const Options& options) {
  for (size_t kind = 0; kind < kCallKinds; ++kind) {
    g_thresholds[kind].Set(options.backtrace_ns[kind]);
  }
}

bool WantsNativeStack(const Options& options, uint32_t domain, uint32_t cbid) {
  return cbid < kMostCalls && options.backtrace_ns[KindOf(domain, cbid)] != Options::kNoBacktrace;
}

void OnNativeCallStack(const Options& options, uint32_t domain, uint32_t cbid,
                       const CallbackData& data) {
  constexpr uint32_t kEnter = 0;
  if (!WantsNativeStack(options, domain, cbid)) return;
  if (data.site == kEnter) return Begin(domain, data);
  if (t_call.correlation != data.correlation || t_call.domain != domain) return;
  t_call.correlation = 0;
  if (!g_thresholds[KindOf(domain, cbid)].IsAbove(Ticks() - t_call.begin)) {
    Write(data.correlation);
  }
}

}  // namespace batchlight::inject::cupti
