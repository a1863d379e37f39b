// Numbers about one GPU, declared as columns are: how well it is used, and how far it is behind the
// CPU. `help` is the formula; {key} in it stands for the number of another metric. One without a
// name is shown in such a place alone.
#pragma once

#include "analysis/gpu/gpu_utilization.h"
#include "analysis/gpu/launch_queue.h"
#include "analysis/result/result_column.h"

namespace batchlight {

// `knows_gpu`: as in GpuUtilization.
Columns<GpuUse> UtilizationMetrics(bool knows_gpu);

// The percentiles are of the histogram "latency".
const Columns<LaunchQueue>& QueueMetrics();

}  // namespace batchlight
