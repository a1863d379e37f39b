// A desync in words, for every view.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/desync/desync.h"

namespace batchlight {

std::string CountWithCommas(uint64_t count);  // "1,048,576"

// "rank 3", "ranks 0, 1, 2 and 61 more".
std::string NamesOfRanks(std::span<const int32_t> ranks);

// "Rank 3 has not come to call 9 of group 0 (default_pg), all_reduce of 1,024 Float: ranks 0, 1, 2
// wait there." Names are as they were recorded: clean them where they are shown.
std::string DesyncSentence(const Desync& found);

}  // namespace batchlight
