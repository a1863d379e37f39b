// What the step board says of each process, summed up over the run.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "format/step_board.h"

namespace batchlight::capture {

// A process that steps. Times of all steps that were read; the quantiles are of the last 1,000.
struct ProcessSteps {
  uint32_t pid = 0;
  int32_t rank = -1;          // -1: no launcher has said
  int64_t attach_ns = 0;      // of this process: tells it from an earlier one in the same slot
  uint64_t step = 0;          // the last that has ended, from 1
  int64_t end_ns = 0;         // of that step, CLOCK_MONOTONIC
  uint64_t timed_steps = 0;   // whose duration is known: all but the first
  uint64_t unread_steps = 0;  // overwritten before they were read
  int64_t total_ns = 0;       // of the timed ones
  std::array<int64_t, format::kBoardPhaseCount> phase_us = {};
  std::vector<int64_t> recent_ns;  // durations, in the order of the steps

  // Of the recent durations; 0 without any.
  int64_t Quantile(double share) const;
};

class StepReader {
 public:
  static constexpr size_t kRecentSteps = 1000;

  // `board` outlives this object. Another process may write anything into it.
  explicit StepReader(const format::StepBoard& board) : board_(board) {}

  // Takes what is new.
  void Read();
  // Of the processes that have stepped, dead ones too until another takes the place.
  std::vector<const ProcessSteps*> Processes() const;

 private:
  void ReadSlot(const format::BoardSlot& slot, ProcessSteps& process);

  const format::StepBoard& board_;
  std::array<ProcessSteps, format::kBoardSlots> processes_;
};

}  // namespace batchlight::capture
