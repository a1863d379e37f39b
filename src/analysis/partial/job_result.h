// What thousands of ranks did to each other, from what is kept of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/partial/exchanges.h"
#include "analysis/partial/job_grid.h"
#include "analysis/partial/late_causes.h"
#include "analysis/partial/rank_grid.h"
#include "analysis/partial/rank_partial.h"
#include "analysis/partial/slow_links.h"
#include "analysis/partial/step_map.h"
#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/job_clock.h"
#include "analysis/ranks/late/lateness.h"
#include "analysis/whatif/what_if.h"
#include "base/status.h"

namespace batchlight {

// Means over the steps that count, ns.
struct RankTimes {
  int32_t rank = -1;
  uint32_t pid = 0;
  std::string host;
  std::string label;             // of its file
  size_t steps = 0;              // that count
  double step_ns = 0;            // median
  double waited_ns = 0;          // for later ranks, as far as JobResult::waits_by tells
  double lost_ns = 0;            // of that: nothing was computed meanwhile
  double cost_ns = 0;            // what the others lost because it came last
  double last_share = 0;         // of the collectives that it shared: it came last
  std::vector<double> phase_ns;  // by JobResult::phases
};

struct JobStraggler {
  size_t row = 0;                   // of JobResult::ranks
  double waited_ns = 0;             // what the others wait for it per step, mean
  double of_step = 0;               // the same as part of a step
  double lost_ns = 0;               // what a step would be shorter if it were as fast as they
  bool by_collectives = false;      // else by the phases of the CPU
  std::vector<int64_t> late_steps;  // numbers
  size_t steps = 0;                 // that count
  std::string phase;                // what it takes longer for; "": not known
  double longer_ns = 0;             // than any other, in a late step
  LateCauses causes;                // what else differs
};

// The rank to which most of what the others lose is due, in so few steps that it may be chance.
struct SeldomLate {
  size_t row = 0;                   // of JobResult::ranks
  double waited_ns = 0;             // what the others wait for it per step, mean
  double of_step = 0;               // the same as part of a step
  std::vector<int64_t> late_steps;  // numbers
  size_t steps = 0;                 // that are compared
};

// What tells how long ranks wait for each other.
enum class WaitsBy : uint8_t {
  kNothing,
  kPhases,       // of the CPU: who communicates shortest came last
  kCollectives,  // their kernels
};

// Calls of one operation with one size on one communicator, over all ranks.
struct CollectiveTotal {
  std::string operation;
  uint32_t communicator = 0;  // counted from 0
  uint32_t ranks = 0;
  uint64_t bytes = 0;
  uint64_t calls = 0;        // of all ranks together
  bool timed = false;        // the kernel of some call is known
  double transfer_ns = 0;    // mean of the shortest kernel of a call
  bool knows_waits = false;  // the kernels of some call are known of two ranks
  double waited_ns = 0;      // mean wait of a rank in a call
};

struct RankDetail {
  const RankPartial* partial;  // of JobResult::parts
  Lateness lateness;
  FirstNumbers first_calls;
};

struct JobResult {
  std::vector<std::string> notes;  // what is missing or doubtful, without a full stop
  std::string clocks;              // how clocks were compared; "": one input, or not compared
  uint64_t losses = 0;
  size_t inputs = 0;
  int32_t world_size = 0;                    // 0: no input says it
  double step_ns = 0;                        // median over ranks
  std::vector<std::string> phases;           // names, in order of their kinds
  std::vector<RankTimes> ranks;              // by rank
  std::vector<CollectiveTotal> collectives;  // by falling waiting, then transfer
  std::vector<ExchangeTotal> exchanges;      // by falling bytes
  std::vector<SlowLink> slow_links;          // by falling time
  WaitsBy waits_by = WaitsBy::kNothing;
  bool knows_waits() const { return waits_by != WaitsBy::kNothing; }
  bool knows_calls() const { return waits_by == WaitsBy::kCollectives; }  // who came last to which
  std::optional<JobStraggler> straggler;
  std::optional<SeldomLate> seldom_late;  // where there is no straggler
  std::optional<WhatIf> what_if;          // not known where waits are not
  std::optional<RankGrid> grid;           // given or found
  bool grid_found = false;                // from communicators
  std::vector<AxisTotal> axes;            // by falling exposed time; empty: no collective is known
  std::optional<Pipeline> pipeline;
  StepMap steps;  // by rank as in `ranks`
  // What the tables of every step and call are made from (job_tables.h): the parts, and by rank as
  // in `ranks` what was found in them.
  std::vector<JobPart> parts;
  std::vector<RankDetail> details;
};

// `grid`: where the ranks stand, if that was said. Errors (kInput): the parts are of several jobs,
// or the grid is not of as many ranks as the job.
Result<JobResult> CompareRanks(std::vector<JobPart> parts, JobClock clock,
                               std::optional<RankGrid> grid = std::nullopt);

}  // namespace batchlight
