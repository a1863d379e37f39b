// Pairs of neighbouring looks at what was used up.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "store/store.h"

namespace batchlight {

// Whether something was captured between two looks: they may stand at the ends of two captures.
inline bool WasCaptured(const Store& store, int64_t from_ns, int64_t to_ns) {
  const CaptureWindowsTable& windows = store.capture_windows;
  const int64_t middle_ns = from_ns + (to_ns - from_ns) / 2;
  for (size_t row = 0; row < windows.size(); ++row) {
    if (middle_ns >= windows.start_ns[row] && middle_ns <= windows.end_ns[row]) return true;
  }
  return windows.size() == 0;
}

// Calls visit(key, earlier row, later row) for every two neighbours of one key in a table that is
// ordered by start; key(row) says whose the row is.
template <typename Table, typename KeyOf, typename Visit>
void VisitLooks(const Store& store, const Table& table, KeyOf&& key_of, Visit&& visit) {
  std::map<decltype(key_of(size_t{})), size_t> last;
  for (size_t row = 0; row < table.size(); ++row) {
    const auto key = key_of(row);
    const auto [place, is_first] = last.try_emplace(key, row);
    if (is_first) continue;
    const size_t before = std::exchange(place->second, row);
    if (table.start_ns[before] == table.start_ns[row]) continue;
    if (WasCaptured(store, table.start_ns[before], table.start_ns[row])) visit(key, before, row);
  }
}

}  // namespace batchlight
