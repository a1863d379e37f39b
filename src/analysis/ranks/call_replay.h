// Plays the calls of all ranks in the order in which they were made: a call happens when every rank
// that takes part in it has come to it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/ranks/call_numbers.h"
#include "analysis/ranks/rank_calls.h"

namespace batchlight {

struct CallOfRank {
  uint32_t rank = 0;        // place among the ranks
  uint32_t call = 0;        // row of its calls
  uint32_t kernel = 0;      // RankCalls::kernel of that row
  uint32_t exposed = 0;     // RankCalls::exposed
  uint32_t step = kNoStep;  // of the rank's, that the call lies in

  static constexpr uint32_t kNoStep = UINT32_MAX;
};

// visit(call on each rank) once for each call, one after the other (of a large job on another
// thread), of one rank alone too, as each Send and Recv is.
// Calls whose operation or size differs between the ranks are visited as one of each kind. Ranks
// that made calls in another order (on several streams) do not stop the replay: where all wait,
// those go on that the others come to later, and what is never complete comes last.
void ReplayCalls(std::span<const RankCalls* const> ranks, const std::vector<FirstNumbers>& first,
                 const std::function<void(std::span<const CallOfRank>)>& visit);

}  // namespace batchlight
