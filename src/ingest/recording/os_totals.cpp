#include "ingest/recording/os_totals.h"

#include <limits>
#include <map>
#include <utility>

namespace batchlight {
namespace {

// Bytes of a recording may be anything, so sums stop at the largest number.
template <typename T>
void Add(T& sum, T value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<T>::max();
}

}  // namespace

void AddUpOsCalls(Store& store) {
  std::map<std::pair<ThreadId, StringId>, OsCallCountsRow> sums;
  for (size_t i = 0; i < store.os_call_counts.size(); ++i) {
    const OsCallCountsRow row = store.os_call_counts.Row(i);
    const auto [place, added] = sums.try_emplace({row.thread, row.name}, row);
    if (added) continue;
    Add(place->second.calls, row.calls);
    Add(place->second.total_ns, row.total_ns);
    Add(place->second.bytes, row.bytes);
  }
  store.os_call_counts.Clear();
  for (const auto& [key, row] : sums) store.os_call_counts.Append(row);
}

}  // namespace batchlight
