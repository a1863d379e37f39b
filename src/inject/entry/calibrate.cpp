#include "inject/entry/calibrate.h"

#include <atomic>

#include "inject/buffer/facts.h"
#include "inject/buffer/scratch_stream.h"
#include "inject/nvtx/ranges.h"
#include "inject/nvtx/registry.h"
#include "inject/rt/clock.h"

namespace batchlight::inject {
namespace {

constexpr int kBatches = 8, kRanges = 32;

// The fastest batch: what it takes when nothing interrupts and the caches are warm.
uint64_t TicksOfRanges() {
  uint64_t best = UINT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    const uint64_t begin = Ticks();
    for (int i = 0; i < kRanges; ++i) {
      nvtx::PushText("batchlight's own calibration");
      nvtx::PopDefault();
    }
    const uint64_t ticks = Ticks() - begin;
    if (ticks < best) best = ticks;
  }
  return best;
}

}  // namespace

void CalibrateOnce() {
  static constinit std::atomic<bool> done{false};
  if (!Traces(format::kTraceNvtx) || done.exchange(true)) return;
  sys::ErrnoSaver errno_saver;
  nvtx::ReadDomainFilter();
  uint64_t ticks = 0;
  {
    const ScratchStream scratch;
    if (!scratch) return;
    ticks = TicksOfRanges();
    if (scratch.RecordCount() != size_t{2} * kBatches * kRanges) return;  // filtered out
  }
  const uint64_t ticks_per_second = TicksPerSecond(ReadClockPair());
  Guard guard;
  if (!guard || ticks_per_second == 0) return;
  RecordCost(guard, "range", true,
             static_cast<double>(ticks) * 1e9 / (static_cast<double>(ticks_per_second) * kRanges));
}

}  // namespace batchlight::inject
