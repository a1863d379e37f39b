#include "export/event_records.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace batchlight {

EventRecords::EventRecords(const Store& store) : store_(store), rows_(store.cuda_events.size()) {
  const CudaEventsTable& events = store.cuda_events;
  std::iota(rows_.begin(), rows_.end(), 0);
  std::stable_sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(events.process[a], events.context[a], events.event[a],
                      events.correlation[a]) <
           std::tuple(events.process[b], events.context[b], events.event[b], events.correlation[b]);
  });
}

uint32_t EventRecords::Before(size_t wait) const {
  const CudaEventsTable& events = store_.cuda_events;
  const SynchronizationsTable& waits = store_.synchronizations;
  if (waits.event[wait] == UINT32_MAX) return kNone;
  const auto same = std::tuple(waits.process[wait], waits.context[wait], waits.event[wait]);
  const auto wanted = std::tuple_cat(same, std::tuple(waits.correlation[wait]));
  const auto after =
      std::lower_bound(rows_.begin(), rows_.end(), wanted, [&](uint32_t row, const auto& key) {
        return std::tuple(events.process[row], events.context[row], events.event[row],
                          events.correlation[row]) < key;
      });
  if (after == rows_.begin()) return kNone;
  const uint32_t row = *(after - 1);
  return std::tuple(events.process[row], events.context[row], events.event[row]) == same ? row
                                                                                         : kNone;
}

}  // namespace batchlight
