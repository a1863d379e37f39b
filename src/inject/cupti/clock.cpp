#include "inject/cupti/clock.h"

#include "inject/buffer/thread_stream.h"
#include "inject/rt/clock.h"

namespace batchlight::inject::cupti {
namespace {

struct Reading {
  uint64_t ticks = 0;  // middle of the two ticks around the reading
  uint64_t width = UINT64_MAX;
  uint64_t cupti_ns = 0;
};

// The narrowest of some readings: nothing interrupted that one.
Reading ReadBoth(const Library& library) {
  constexpr int kTries = 16;
  Reading best;
  for (int i = 0; i < kTries; ++i) {
    uint64_t cupti_ns = 0;
    const uint64_t before = Ticks();
    if (library.cuptiGetTimestamp(&cupti_ns) != kSuccess) return best;
    const uint64_t width = Ticks() - before;
    if (width < best.width) best = {before + width / 2, width, cupti_ns};
  }
  return best;
}

}  // namespace

void WriteClockPair(const Library& library) {
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  // Before the clocks are read: a chunk that is made for the record begins after them otherwise,
  // and none of its records can be earlier.
  if (stream == nullptr || !stream->Ensure(sizeof(format::GpuClockRecord))) return;
  const CallsOut calls_out(guard);
  const Reading reading = ReadBoth(library);
  if (reading.cupti_ns == 0) return;
  const uint64_t ticks_per_second = TicksPerSecond(ReadClockPair());
  const uint64_t uncertainty_ns =
      ticks_per_second != 0 ? reading.width * 500'000'000 / ticks_per_second : 0;
  stream->WriteAt(
      format::GpuClockRecord{.cupti_ns = static_cast<int64_t>(reading.cupti_ns),
                             .uncertainty_ns = static_cast<uint32_t>(
                                 uncertainty_ns < UINT32_MAX ? uncertainty_ns : UINT32_MAX)},
      reading.ticks);
}

}  // namespace batchlight::inject::cupti
