// The last step of every importer: establishes what schema.def promises about the tables.
//
//   order     as the ORDER lines say, equal rows as they came. A table in order is only looked at.
//   ids       of rows that move are renumbered wherever they stand.
//   parents   by time: the call of the same thread (of NVTX: the push/pop range of the same domain)
//             that started last among those open at the start. An NVTX range must enclose its child
//             to the end, other calls need not (nest_calls.h has the reasons). A call that takes no
//             time is nobody's parent.
//   api_call  the first call, in order, of the process and correlation id: where calls share an id,
//             one encloses the others, and that is the one the program made. (Ids that CUPTI
//             repeats are told apart before: ingest/recording/repeated_ids.h.) Id 0 is none, and no
//             process is never the same process. None where the call was not recorded.
//   launches  each configuration is one row.
//   open ends stay, unless sums over them could not be held (endless_rows.h).
#pragma once

#include "store/store.h"

namespace batchlight {

// Which parents and depths come from the source of the store: those are left as they are.
struct FinishOptions {
  bool has_range_parents = false;  // nvtx_ranges
  bool has_call_parents = false;   // all other tables with a parent
};

// Requires that processes and threads are known, times are on one clock and duration_ns is set.
void FinishStore(Store& store, const FinishOptions& options = {});

}  // namespace batchlight
