// Puts the stores of several inputs together: one job that was recorded into several files. Rows of
// each follow those of the input before it; ids and times are translated.
//
// A fact of the session stays one where all inputs agree, and becomes one of each process where
// they differ, as the host does. `session.*` is what the first input says. GPUs are told apart by
// their UUID (without one, by host and number; ranks that name no host are of one if they used
// different GPUs of the same list) and numbered again where two have the same number,
// since every host counts its own from 0. What machines used up is left out: of whose machine a
// look was is not in its table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace batchlight {

// From the clock of an input to that of the job.
struct TimeShift {
  int64_t offset_ns = 0;  // added
  double drift = 0;       // ns that are added besides for each ns since pivot_ns
  int64_t pivot_ns = 0;   // on the input's clock

  int64_t Of(int64_t time_ns) const;
};

struct MergeInput {
  Store store;
  TimeShift shift;
  std::string label;  // stands before what the input says of its reading
};

// Each input is finished (store/finish.h), and there is one at least. The caller sets source and
// session_start_utc_ns. Errors (kInput): more rows than ids can name.
Result<Store> MergeStores(std::vector<MergeInput> inputs);

}  // namespace batchlight
