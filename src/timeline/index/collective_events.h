// What the ranks of a job did together, call by call, in the order in which the timeline numbers
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/nccl_calls.h"
#include "store/store.h"

namespace batchlight::timeline {

inline constexpr std::string_view kCollectivesKey = "collectives";

// A call of one rank: its kernels from the first to the last, or, if none is known, the call itself
// on the CPU.
struct CollectiveEvent {
  uint32_t call = 0;  // row of NcclCalls::calls
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t device = -1;            // -1: no kernel is known
  std::vector<uint32_t> kernels;  // rows, by start
};

// By process, device, communicator, start, then longest: the rows of the derived table.
std::vector<CollectiveEvent> FindCollectiveEvents(const Store& store, const NcclCalls& nccl);

// Of the same process, GPU and communicator.
bool IsSameTrack(const NcclCalls& nccl, const CollectiveEvent& a, const CollectiveEvent& b);

}  // namespace batchlight::timeline
