#include "ingest/recording/os_totals.h"

#include <map>
#include <utility>

#include "base/saturating_add.h"

namespace batchlight {
void AddUpOsCalls(Store& store) {
  std::map<std::pair<ThreadId, StringId>, OsCallCountsRow> sums;
  for (size_t i = 0; i < store.os_call_counts.size(); ++i) {
    const OsCallCountsRow row = store.os_call_counts.Row(i);
    const auto [place, added] = sums.try_emplace({row.thread, row.name}, row);
    if (added) continue;
    SaturatingAdd(place->second.calls, row.calls);
    SaturatingAdd(place->second.total_ns, row.total_ns);
    SaturatingAdd(place->second.bytes, row.bytes);
  }
  store.os_call_counts.Clear();
  for (const auto& [key, row] : sums) store.os_call_counts.Append(row);
}

}  // namespace batchlight
