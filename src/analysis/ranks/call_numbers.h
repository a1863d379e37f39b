// Which call of one rank is the same as which of another: on each communicator calls are counted,
// and the n-th is the same one on all ranks. Where ranks began to record at different calls, their
// counts are shifted against each other until the operations and sizes agree and the kernels end
// together.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/ranks/rank_calls.h"

namespace batchlight {

// Operations of which all ranks end together, but for the time of a hop.
bool EndsTogether(std::string_view operation);

// Send and Recv, of which each rank of a communicator makes as many as it likes: they are not
// counted, and each is a call of one rank.
bool IsBetweenTwo(std::string_view operation);

// By rank: the number of its first call on each communicator, in a count that all ranks share.
// `clock_ns`: what to add to each rank's times, as far as it is known; may be empty.
using FirstNumbers = std::unordered_map<uint64_t, uint32_t>;
std::vector<FirstNumbers> NumberCalls(std::span<const RankCalls* const> ranks,
                                      std::span<const int64_t> clock_ns);

}  // namespace batchlight
