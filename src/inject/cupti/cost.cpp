#include "inject/cupti/cost.h"

#include <cstdint>

#include "inject/buffer/facts.h"
#include "inject/rt/clock.h"

namespace batchlight::inject::cupti {
namespace {

constexpr uint32_t kDriverGetVersion = 2;  // cuda_driver_calls.def
constexpr int kBatches = 8, kCalls = 256;

// The fastest batch: what the calls take when nothing interrupts.
uint64_t TimeBatch(int (*call)(int*)) {
  uint64_t best = UINT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    int ignored = 0;
    const uint64_t begin = Ticks();
    for (int i = 0; i < kCalls; ++i) call(&ignored);
    const uint64_t ticks = Ticks() - begin;
    if (ticks < best) best = ticks;
  }
  return best;
}

}  // namespace

void MeasureCallCost(const Library& library) {
  auto* call = reinterpret_cast<int (*)(int*)>(DriverSymbol("cuDriverGetVersion"));
  const uint64_t ticks_per_second = TicksPerSecond(ReadClockPair());
  if (call == nullptr || library.cuptiActivityEnableDriverApi == nullptr || ticks_per_second == 0) {
    return;
  }
  const uint64_t without = TimeBatch(call);
  library.cuptiActivityEnableDriverApi(kDriverGetVersion, 1);
  const uint64_t with = TimeBatch(call);
  library.cuptiActivityEnableDriverApi(kDriverGetVersion, 0);
  if (with <= without) return;
  Guard guard;
  if (!guard) return;
  RecordCost(
      guard, "cuda_call", true,
      static_cast<double>(with - without) * 1e9 / (static_cast<double>(ticks_per_second) * kCalls));
}

}  // namespace batchlight::inject::cupti
