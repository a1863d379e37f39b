// Blocks of the program's memory (store.memory_blocks) by process, and when they held most.
#pragma once

#include <map>
#include <vector>

#include "analysis/lines/held_peak.h"
#include "store/store.h"

namespace batchlight {

// Rows, without those of GPUs.
std::map<ProcessId, std::vector<uint32_t>> BlocksByProcess(const Store& store);
HeldPeak PeakOfBlocks(const Store& store, const std::vector<uint32_t>& blocks);

}  // namespace batchlight
