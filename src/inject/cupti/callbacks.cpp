// What CUPTI calls: for buffers, and for the few events that no record tells of.
#include "inject/buffer/thread_stream.h"
#include "inject/collect/capture.h"
#include "inject/collect/collecting_watch.h"
#include "inject/cupti/call_stacks.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/copy_sources.h"
#include "inject/cupti/decode.h"
#include "inject/cupti/follower.h"
#include "inject/cupti/kinds.h"
#include "inject/cupti/waits.h"
#include "inject/rt/control.h"
#include "inject/rt/counters.h"

namespace batchlight::inject::cupti {
namespace {

void CountDropped(const Library& library) {
  size_t dropped = 0;
  if (library.cuptiActivityGetNumDroppedRecords != nullptr &&
      library.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == kSuccess && dropped != 0) {
    AddCounter(format::Counter::kCudaRecordsDropped, dropped);
  }
}

void WriteGraphNode(const Library& library, const GraphData& graph, bool clone) {
  uint64_t node = 0, original = 0;
  if (!Collecting() || library.cuptiGetGraphNodeId == nullptr ||
      library.cuptiGetGraphNodeId(graph.node, &node) != kSuccess) {
    return;
  }
  if (clone) library.cuptiGetGraphNodeId(graph.original_node, &original);
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream != nullptr && stream->Ensure(sizeof(format::GraphNodeRecord))) {
    stream->Write(format::GraphNodeRecord{.node = node, .original = original});
  }
}

void OnResource(uint32_t cbid, const ResourceData& data) {
  CollectorState& state = g_collector;
  if (cbid == kContextCreated) {
    const bool first = !state.context_seen.exchange(true, std::memory_order_acq_rel);
    if (!first) return;
    if (state.collecting.load()) {
      EnablePageFaults(state.library, state.options, SayRefused);
    } else {
      SetAllCalls(state.library, state.options, false);
    }
    return;
  }
  if (cbid == kModuleLoaded || cbid == kModuleUnloads) {
    if (data.descriptor != nullptr && g_follower != nullptr) {
      g_follower->on_module(cbid, *static_cast<const ModuleData*>(data.descriptor));
    }
    return;
  }
  state.graph_made.store(true, std::memory_order_relaxed);
  if (g_follower != nullptr) g_follower->on_graph_node();
  if (state.options.graph_nodes && data.descriptor != nullptr) {
    WriteGraphNode(state.library, *static_cast<const GraphData*>(data.descriptor),
                   cbid == kGraphNodeCloned);
  }
}

// cudaProfilerStart and cuProfilerStart, which it calls: the second one changes nothing. Work
// launched after Start returned and before Stop was called belongs to the capture.
void OnProfilerCall(bool start, uint32_t site) {
  constexpr uint32_t kEnter = 0;
  if (start && site != kEnter) {
    BeginCapture(CaptureBy::kRange);
    FollowState();
    FollowCollecting();
  } else if (!start && site == kEnter && Collecting()) {
    if (g_collector.options.flush_on_stop) Flush(false, 1000);
    EndCapture(CaptureBy::kRange);
    FollowState();
    FollowCollecting();
  }
}

}  // namespace

void OnBufferRequested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  CollectorState& state = g_collector;
  *buffer = state.pool.Take(state.library.version < kVersion12_9);
  *bytes = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
  *max_records = 0;
}

void OnBufferCompleted(void*, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  CollectorState& state = g_collector;
  if (buffer == nullptr) return;
  if (valid_bytes != 0 && state.running.load(std::memory_order_acquire)) {
    const int64_t begin = sys::Nanoseconds(CLOCK_MONOTONIC);
    const DecodeTotals totals =
        DecodeBuffer(state.library, {state.helper_tid.load(), !state.ever_collected.load()}, buffer,
                     valid_bytes);
    if (totals.incomplete != 0) {
      AddCounter(format::Counter::kCudaWorkUnfinished, totals.incomplete);
    }
    CountDropped(state.library);
    state.decoded_records.fetch_add(totals.records, std::memory_order_relaxed);
    state.decode_ns.fetch_add(static_cast<uint64_t>(sys::Nanoseconds(CLOCK_MONOTONIC) - begin),
                              std::memory_order_relaxed);
  }
  state.pool.Return(buffer, valid_bytes);
}

void OnCallback(void*, uint32_t domain, uint32_t cbid, const void* data) {
  if (data == nullptr || !g_collector.running.load(std::memory_order_acquire)) return;
  sys::ErrnoSaver errno_saver;
  if (domain == kResource) {
    return OnResource(cbid, *static_cast<const ResourceData*>(data));
  }
  const auto& call = *static_cast<const CallbackData*>(data);
  if (domain == kDriverApi && g_follower != nullptr) g_follower->on_driver_call(cbid, call);
  OnCallStack(g_collector.options, domain, cbid, call);
  OnCopyCall(domain, cbid, call);
  if (OnWaitCall(g_collector.library, g_collector.options, domain, cbid, call)) return;
  const bool runtime = domain == kRuntimeApi;
  const bool start = cbid == (runtime ? kRuntimeProfilerStart : kDriverProfilerStart);
  const bool stop = cbid == (runtime ? kRuntimeProfilerStop : kDriverProfilerStop);
  if (Control()->trigger == format::CaptureTrigger::kCudaProfilerApi && (start || stop)) {
    OnProfilerCall(start, call.site);
  }
}

}  // namespace batchlight::inject::cupti
