// Whether the streams of a GPU work side by side or one after the other, and if so, why.
//
// The kernels of a device are grouped into blocks: consecutive kernels of one stream, with none of
// another stream starting in between. A block waited for the block before it, on another stream, if
// its first kernel had been launched and its own stream was idle while that block still ran, and it
// began right after that block. Left out: communication, which has a rule of its own; kernels of
// CUDA graphs, whose order is in the graph; and time in which the earlier block's grids fill the
// GPU, since nothing could have run beside them anyway.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Why a block waited, in the order in which the causes are checked.
enum class StreamWait : uint8_t {
  kEvent,          // the thread called cudaStreamWaitEvent before it launched the block
  kDefaultStream,  // one of the two is the legacy default stream, the other a stream that obeys it
  kOther,          // the driver's queues, or resources that the grids do not show
};
inline constexpr size_t kStreamWaitCount = 3;

struct StreamUse {
  uint32_t context = 0;
  uint32_t stream = 0;
  bool is_default = false;  // the legacy default stream
  uint64_t kernels = 0;     // in steady steps, as all of the following
  int64_t busy_ns = 0;
};

struct StreamOverlap {
  std::vector<StreamUse> streams;  // with 5 % of the device's kernel time or more, busiest first
  int64_t overlap_ns = 0;          // time of their kernels beside those of another one
  std::array<uint64_t, kStreamWaitCount> waits{};
  // What running the waiting blocks beside those they waited for would save at most.
  std::array<int64_t, kStreamWaitCount> lost_ns{};

  // Of the time that all streams but the busiest could overlap, 0 to 1.
  double overlap_share() const;
};

// Of the process and device of `gpu`, in steady steps. Without streams where fewer than two
// have 5 % of the kernel time.
StreamOverlap FindStreamOverlap(const Store& store, const StepSet& steps, const GpuBreakdown& gpu);

}  // namespace batchlight
