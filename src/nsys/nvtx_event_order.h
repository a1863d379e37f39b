// The order of ranges and marks in an exported NVTX_EVENTS. It defines the RangeId in nsys's
// reports, which is the row in that table.
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight::nsys {

struct NvtxEvent {
  enum class Kind : uint8_t { kDomain, kCategory, kRange, kMark, kOperator };
  Kind kind;
  uint32_t row;  // in the table of its kind
};

// Domains, categories, then ranges, marks and, where asked for, operators by start. Event i has row
// i + 1 of NVTX_EVENTS.
std::vector<NvtxEvent> NvtxEventOrder(const Store& store, bool with_operators = false);

// By row of nvtx_ranges: the row in NVTX_EVENTS, in the imported file if there was one.
std::vector<uint32_t> NvtxRangeIds(const Store& store);

}  // namespace batchlight::nsys
