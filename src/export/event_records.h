// Finds the record of a CUDA event that a wait for that event waits for: the last one before the
// wait with the same process, context and event, in the order of the calls (correlation ids count
// up).
#pragma once

#include <cstdint>
#include <vector>

#include "store/store.h"

namespace batchlight {

class EventRecords {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit EventRecords(const Store& store);  // must outlive this

  // Row of cuda_events for a row of synchronizations; kNone: it waits for no event, or the record
  // is not in the recording.
  uint32_t Before(size_t wait) const;

 private:
  const Store& store_;
  std::vector<uint32_t> rows_;  // of cuda_events, by process, context, event, correlation
};

}  // namespace batchlight
