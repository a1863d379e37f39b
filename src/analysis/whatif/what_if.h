// What a step would take if no worker were slower than another: the operations of all steps are
// played again, in the order in which they wait for each other, with other durations.
//
//   slowdown          S = step as it is / step where every operation takes what its kind takes in
//                     the mean (computing) or median (communication) over workers and steps
//   of a worker       a worker is a rank; its score is the smaller of what its replica and its
//   stage
//                     slow the ideal step by
//   share of workers  M_W: how much of the slowdown goes if the 3 % of workers with the highest
//                     score (one at least) are as fast as the rest
//   share of stage    M_S: the same of the last stage
//
// Both shares can exceed 1: what was healed may have hidden nothing, and the ideal has waits too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/whatif/pipeline_model.h"

namespace batchlight {

struct SlowWorker {
  int32_t rank = 0;
  int32_t replica = 0;
  int32_t stage = 0;
  double slowdown = 1;  // of the ideal step
};

struct SlowPart {
  std::string name;     // "stage 3", "backward-compute"
  double slowdown = 1;  // of the ideal step, with this part as it is
};

struct WhatIf {
  double step_s = 0;  // as it is, without gaps before launches; mean over steps
  double ideal_s = 0;
  double without_workers_s = 0;     // the slowest workers healed
  double without_stage_s = 0;       // the last stage healed
  std::vector<SlowWorker> workers;  // by falling slowdown
  size_t healed = 0;                // how many of these are the slowest 3 %
  std::vector<SlowPart> stages;     // in their order
  std::vector<SlowPart> works;      // by falling slowdown

  double slowdown() const { return ideal_s > 0 ? step_s / ideal_s : 1; }
  double share_of_workers() const { return ShareOf(without_workers_s); }
  double share_of_stage() const { return ShareOf(without_stage_s); }

 private:
  double ShareOf(double without_s) const {
    return step_s != ideal_s ? (step_s - without_s) / (step_s - ideal_s) : 0;
  }
};

WhatIf AskWhatIf(const PipelineModel& model);

}  // namespace batchlight
