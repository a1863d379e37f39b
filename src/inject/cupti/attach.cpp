// Claiming CUPTI and giving it back. What it has once hooked costs each launch some 0.3 us for as
// long as the process lives; only cuptiFinalize takes that away. It is called where CUPTI's
// documentation wants it, at the exit of a CUDA call, which is one of our own.
#include <cstddef>

#include "inject/buffer/facts.h"
#include "inject/cupti/clock.h"
#include "inject/cupti/collector.h"
#include "inject/cupti/collector_state.h"
#include "inject/cupti/identity.h"
#include "inject/cupti/kinds.h"
#include "inject/rt/control.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kReadyBuffers = 4;

// The callbacks that are wanted whatever is collected. None of them lies on the path of a launch.
void EnableCallbacks(const CollectorState& state, Hold wanted) {
  const Library& library = state.library;
  void* const subscriber = state.subscriber;
  if (wanted == Hold::kEarly) {
    library.cuptiEnableCallback(1, subscriber, kResource, kContextCreated);
  }
  if (wanted != Hold::kListens && state.options.graph_nodes) {
    library.cuptiEnableCallback(1, subscriber, kResource, kGraphNodeCreated);
    library.cuptiEnableCallback(1, subscriber, kResource, kGraphNodeCloned);
  }
  if (Control()->trigger == format::CaptureTrigger::kCudaProfilerApi) {
    library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kRuntimeProfilerStart);
    library.cuptiEnableCallback(1, subscriber, kRuntimeApi, kRuntimeProfilerStop);
    library.cuptiEnableCallback(1, subscriber, kDriverApi, kDriverProfilerStart);
    library.cuptiEnableCallback(1, subscriber, kDriverApi, kDriverProfilerStop);
  }
}

// Subscribing comes first: it is what tells another user of CUPTI, and keeps later ones from taking
// the buffers over.
uint32_t Subscribe(CollectorState& state) {
  if (state.subscriber != nullptr) return kSuccess;
  return state.library.cuptiSubscribe(&state.subscriber, OnCallback, nullptr);
}

uint32_t RegisterBuffers(CollectorState& state) {
  SetAttributes(state.library);
  if (state.pool.mapped() == 0) state.pool.Prepare(kReadyBuffers);
  return state.library.cuptiActivityRegisterCallbacks(OnBufferRequested, OnBufferCompleted);
}

}  // namespace

const char* Attach(Hold wanted) {
  CollectorState& state = g_collector;
  const Library& library = state.library;
  if (library.handle == nullptr) {
    if (const char* why = OpenLibrary(state.library)) return why;
    SayCuptiVersion(library);
  }
  uint32_t result = Subscribe(state);
  if (result == kSuccess && wanted != Hold::kListens) result = RegisterBuffers(state);
  if (result != kSuccess) {
    if (state.subscriber != nullptr) library.cuptiUnsubscribe(state.subscriber);
    state.subscriber = nullptr;
    state.hold.store(Hold::kNone);
    return ResultText(library, result);
  }
  EnableCallbacks(state, wanted);
  if (wanted != Hold::kListens) {
    EnableFactKinds(library, state.options);
    WriteClockPair(library);
  }
  state.hold.store(wanted, std::memory_order_release);
  return nullptr;
}

bool Detach() {
  CollectorState& state = g_collector;
  const Library& library = state.library;
  auto* call = reinterpret_cast<int (*)(int*)>(DriverSymbol("cuDriverGetVersion"));
  // With CUDA graphs, cuptiFinalize crashes the process before CUDA 12.6 (PyTorch has it so).
  if (call == nullptr || library.cuptiFinalize == nullptr || library.version < kVersion12_6) {
    return false;
  }
  library.cuptiActivityFlushAll(kFlushForced);
  state.finalize_wanted.store(true, std::memory_order_release);
  library.cuptiEnableCallback(1, state.subscriber, kDriverApi, kDriverGetVersion);
  int ignored = 0;
  call(&ignored);
  if (!state.finalize_wanted.exchange(false)) return true;
  library.cuptiEnableCallback(0, state.subscriber, kDriverApi, kDriverGetVersion);
  return false;  // no callback came
}

void FinalizeInCallback(uint32_t site) {
  CollectorState& state = g_collector;
  if (site != kExit || !state.finalize_wanted.exchange(false)) return;
  state.hold.store(Hold::kNone, std::memory_order_release);
  state.library.cuptiFinalize();
  state.subscriber = nullptr;
}

}  // namespace batchlight::inject::cupti
