// A job whose ranks are bound by launches, recorded by one recording.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/store.h"

namespace batchlight::testing {

// The CPU of each rank launches for 4 ms, and longer now and then (`jitter` of a step in the mean),
// and runs ahead of a GPU that computes for 2 ms and meets the others in an AllReduce. The last
// rank is slower by so much of a step. 60 steps.
Store LaunchBoundJob(size_t ranks, uint64_t seed, double jitter, double slower);

}  // namespace batchlight::testing
