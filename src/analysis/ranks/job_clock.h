// One clock for the inputs of a job.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/merge_stores.h"
#include "store/store.h"

namespace batchlight {

enum class JobClock {
  kCollectives,  // UTC, corrected by what the GPUs did together (clock_alignment.h)
  kUtc,          // as the hosts' clocks say it
  kNone,         // all inputs begin at the same moment
};

struct ClocksOfJob {
  std::vector<TimeShift> shifts;   // by input; the earliest time 0 becomes 0
  int64_t start_utc_ns = 0;        // of that moment, 0: not known
  std::string how;                 // one sentence without a full stop
  std::vector<std::string> notes;  // what is doubtful, without a full stop
};

// `labels`: of the inputs, for notes.
ClocksOfJob SettleClocks(std::span<const Store* const> inputs, std::span<const std::string> labels,
                         JobClock clock);

}  // namespace batchlight
