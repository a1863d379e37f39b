// The clocks of several hosts, made one by what their GPUs did together: the kernels of an
// AllReduce end within a microsecond on all ranks (measured on two GPUs of one host: 0.05 us, 0.6
// at worst). Broadcasts and sends end when each rank is done with its part, and say nothing.
//
// Each input gets an offset and, where it was recorded for long enough, a drift: the line of least
// squares through the medians of 16 stretches of time. Inputs that share no communicator with the
// first are reached through others that do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/ranks/rank_calls.h"
#include "store/merge_stores.h"

namespace batchlight {

// What is known of one input before: its ranks, and where its time 0 lies by its own clock.
struct ClockInput {
  std::vector<const RankCalls*> ranks;  // with ends
  int64_t start_ns = 0;                 // of its time 0 on the clock of the job
};

struct ClockAlignment {
  std::vector<TimeShift> shifts;  // by input; what was not aligned keeps its start_ns
  size_t aligned = 0;             // inputs, the one that others are aligned with included
  uint64_t calls = 0;             // by which
  double residual_ns = 0;         // median distance of an end from the middle of its call's ends
  double off_ns = 0;              // the largest correction of a clock

  // "2 clocks aligned by the ends of 1,200 AllReduce, which differ by 0.1 us; they were off by up
  // to 1.2 ms"; "" where there was nothing to align by.
  std::string Text() const;
};

ClockAlignment AlignClocks(std::span<const ClockInput> inputs);

}  // namespace batchlight
