// How far the GPU is behind the CPU: how much launched work waits to start, and for how long. A
// queue that runs empty while the GPU is idle means that the CPU launches too slowly.
//
//   latency = start on the GPU - begin of the launching call
//   depth   = work whose launching call has begun and that has not started
//   empty   = part of the time in which nothing is queued
//
// Work of a step is what its launching calls in that step launched. Replayed CUDA graphs launch
// many kernels with one call, and all of them are queued at once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/numbers/latency_counts.h"
#include "analysis/numbers/statistics.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct QueuePoint {
  int64_t time_ns = 0;
  double depth = 0;  // from this time on
};

struct StepQueue {
  uint32_t launches = 0;
  int64_t median_latency_ns = 0;
  int64_t p95_latency_ns = 0;
  uint32_t most = 0;  // depth
  double mean_depth = 0;
  double empty = 0;  // 0 to 1
};

// Depth over one step.
struct QueueCurve {
  size_t step = 0;     // row of the steps
  bool means = false;  // too many changes: the points are means over equal parts of the step
  std::vector<QueuePoint> points;
};

struct LaunchQueue {
  ProcessId process;
  uint32_t device = 0;
  std::vector<StepQueue> steps;  // one per step of the process
  Sample latency;                // of all work of steady steps
  double mean_depth = 0;         // over steady steps
  double empty = 0;
  uint32_t most = 0;
  QueueCurve curve;  // of the step whose length is nearest to the median
  // For readers who select steps: the curve of the step of median length in every bin, and of the
  // step of `curve`. The more there are, the coarser they are. Ascending.
  std::vector<QueueCurve> curves;
  std::vector<LatencyCounts> latency_of_bin;  // of the steps that StepsOfBins() gives
};

// One per training process and device; curves have about `most_points` at most (or 60).
std::vector<LaunchQueue> AnalyzeLaunchQueues(const Store& store, const StepSet& steps,
                                             size_t most_points = 1500);

}  // namespace batchlight
