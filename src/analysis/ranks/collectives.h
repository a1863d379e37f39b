// What the ranks of a job said to each other: NCCL's calls with their message sizes, from the
// ranges and payloads of NCCL's own NVTX domain, and the kernels that they launched.
//
// A collective's kernel runs until every rank has come: of the ranks that take part in one call,
// the shortest kernel shows how long the data took, what others have beyond that is waiting for the
// slowest. Calls are matched by their order on the communicator.
//
// Algorithm bandwidth = size / shortest kernel, bus bandwidth = that x a factor for the links that
// the data has to pass, as nccl-tests define them for n ranks: all-reduce 2(n-1)/n; all-gather,
// reduce-scatter, all-to-all (n-1)/n; others 1. The size of all-gather, reduce-scatter and
// all-to-all is the message x n.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/gpu/gpu_breakdown.h"
#include "analysis/owners/attribution.h"
#include "analysis/ranks/late/common_steps.h"
#include "analysis/ranks/late/late_rank.h"
#include "analysis/ranks/late/straggler.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// What calls took, added up over ranks.
struct CollectiveTimes {
  uint64_t calls = 0;
  uint64_t timed = 0;       // calls whose kernel is known
  uint64_t matched = 0;     // calls of all ranks together, of which one kernel at least is known
  int64_t kernel_ns = 0;    // of all ranks
  int64_t waited_ns = 0;    // of that: for the slowest rank
  int64_t shortest_ns = 0;  // sum over matched calls of the shortest kernel
};

// Calls of one operation with one message size on one communicator, over all ranks.
struct CollectiveRow {
  std::string operation;      // "AllReduce"
  uint32_t communicator = 0;  // counted from 0
  uint32_t ranks = 0;         // of the communicator, as NCCL says or as were recorded
  uint64_t message_bytes = 0;
  CollectiveTimes times;      // of the whole run
  CollectiveTimes steady;     // of steps that count: each call as a whole, where it begins
  double calls_per_step = 0;  // of one rank
  bool knows_waits = false;   // several ranks were recorded
  // The same calls by bins of steps; the last is what lies in no step. A call of all ranks
  // together is in the bin in which its first rank made it.
  std::vector<CollectiveTimes> bins;

  double size_bytes() const;
  double bus_factor() const;  // bus bandwidth / algorithm bandwidth
};

// Of one training process. Means per steady step.
struct RankRow {
  ProcessId process;
  int32_t rank = -1;
  uint32_t device = 0;
  bool has_gpu = false;
  bool has_windows = false;  // of steps on the GPU: without them the times below but `waited` are 0
  double step_ns = 0;
  double compute_ns = 0;  // kernels but communication
  double exposed_communication_ns = 0;
  double hidden_communication_ns = 0;
  double copies_ns = 0;  // exposed
  double idle_ns = 0;
  bool knows_waits = false;             // the kernels of some call are known of two ranks
  double waited_ns = 0;                 // in collectives, for slower ranks
  std::vector<int64_t> waited_in_step;  // one per step of the process
};

struct Distributed {
  std::vector<RankRow> ranks;              // empty: fewer than two training processes
  std::vector<CollectiveRow> collectives;  // by falling kernel time
  CommonSteps common;                      // steps of the ranks that belong together
  std::optional<LateRank> late;            // by NCCL's kernels; places in `common`
  std::optional<Straggler> straggler;      // a row of `ranks`
};

// `loop`: the steps of which `steps` is a part, by which the calls of several ranks are matched.
Distributed AnalyzeDistributed(const Store& store, const StepSet& steps, const StepSet& loop,
                               const Attribution& work, const std::vector<GpuBreakdown>& breakdowns,
                               const std::vector<uint32_t>& bin_starts);

}  // namespace batchlight
