// What is kept of a rank so that thousands can be compared: its steps with their phases, its
// collectives, its kernels by name, and who it is. Some 200 KB for 1,000 steps and 20,000 calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/breakdown/step_breakdown.h"
#include "analysis/partial/rank_condition.h"
#include "analysis/ranks/host_clocks.h"
#include "analysis/ranks/job_inputs.h"
#include "analysis/ranks/late/phase_times.h"
#include "analysis/ranks/late/rank_pace.h"
#include "analysis/ranks/rank_calls.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

struct KernelTimes {
  std::string name;
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t median_ns = 0;
};

struct RankPartial {
  int32_t rank = -1;
  uint32_t pid = 0;
  std::string host;
  std::vector<int64_t> step_ns;  // of every step
  std::vector<int64_t> step_number;
  std::vector<uint32_t> steady;  // rows of the steps that count
  std::vector<PhaseTimes> phases;
  std::vector<KernelTimes> kernels;  // those with most time, by falling time; no collectives
  RankPace pace;                     // empty in what was kept before 2026-11-26
  RankCalls calls;
  // Nothing is known of what was kept before 2026-11-29.
  RankCondition condition;
  std::string own_times;  // of operators and modules: kept_own_times.h
};

// Of one recording: the ranks that trained in it.
struct JobPart {
  InputIdentity identity;
  HostClock clock;
  uint64_t losses = 0;  // events that the recording says it lost
  std::vector<RankPartial> ranks;
};

JobPart MakeJobPart(const std::string& label, const Store& store);
// Of a store whose steps are known.
JobPart MakeJobPart(const std::string& label, const Store& store, const StepSet& steps,
                    const std::vector<StepBreakdown>& breakdowns);

}  // namespace batchlight
