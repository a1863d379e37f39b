// How far the GPU is behind the CPU: how much launched work waits to start, and for how long. A
// queue that runs empty while the GPU is idle means that the CPU launches too slowly.
//
//   latency = start on the GPU - begin of the launching call
//   depth   = work whose launching call has begun and that has not started
//   empty   = part of the time in which nothing is queued
//
// Work of a step is what its launching calls in that step launched. Replayed CUDA graphs launch
// many kernels with one call, which then all are queued at once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/statistics.h"
#include "analysis/steps.h"
#include "store/store.h"

namespace batchlight {

struct QueuePoint {
  int64_t time_ns = 0;
  uint32_t depth = 0;  // from this time on
};

struct StepQueue {
  uint32_t launches = 0;
  int64_t median_latency_ns = 0;
  int64_t p95_latency_ns = 0;
  uint32_t most = 0;  // depth
  double mean_depth = 0;
  double empty = 0;  // 0 to 1
};

struct LaunchQueue {
  ProcessId process;
  uint32_t device = 0;
  std::vector<StepQueue> steps;  // one per step of the process
  Sample latency;                // of all work of the steps that count
  double mean_depth = 0;         // over the steps that count
  double empty = 0;
  uint32_t most = 0;
  // Depth over the step whose length is the median one.
  size_t shown_step = 0;  // row of the steps
  std::vector<QueuePoint> curve;
};

// One per training process and device; curves are thinned to about `most_points`.
std::vector<LaunchQueue> AnalyzeLaunchQueues(const Store& store, const StepSet& steps,
                                             size_t most_points = 1500);

}  // namespace batchlight
