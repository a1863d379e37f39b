// Joins the pieces of each thread: ends the ranges that began in an earlier piece, and works out
// depth and parent of the rows that lie inside such ranges.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ingest/decode/fragment.h"

namespace batchlight {

// Rows are those of the joined table.
struct StitchedEnd {
  uint32_t row;
  ThreadId thread;
  int64_t end_ns;
};
// Rows [begin_row, end_row) of a domain lie inside `depth` ranges of earlier pieces, the innermost
// of which is `parent`.
struct CarriedSegment {
  uint32_t begin_row;
  uint32_t end_row;
  NvtxDomainId domain;
  uint32_t depth;
  uint32_t parent;
};
// What a fragment noted of a call of an earlier one.
struct StitchedNote {
  uint32_t row;
  size_t fragment;
  uint32_t note;
};
struct StitchPatches {
  std::vector<StitchedEnd> ends;
  std::vector<StitchedNote> notes;
  std::vector<CarriedSegment> segments;
  std::map<ThreadId, uint64_t> unbalanced_ends;
  std::map<ThreadId, uint64_t> open_at_end;
};

// `base_rows[i]`: rows of the table before fragment i. `domains[i]`: fragment i's domain rows to
// the recording's.
StitchPatches StitchNesting(std::span<const Fragment> fragments, NestedTable table,
                            std::span<const uint32_t> base_rows,
                            std::span<const std::vector<NvtxDomainId>> domains);

}  // namespace batchlight
