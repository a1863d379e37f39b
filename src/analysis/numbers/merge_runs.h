// Orders rows that were gathered from a few tables, each in order already.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace batchlight {

// A stable sort: one pass to find the runs that are in order, then merges of neighbors. Linear for
// one run; where there are many it is an ordinary merge sort.
template <typename Row, typename Less>
void MergeRuns(std::vector<Row>& rows, const Less& less) {
  std::vector<size_t> starts = {0};
  for (size_t i = 1; i < rows.size(); ++i) {
    if (less(rows[i], rows[i - 1])) starts.push_back(i);
  }
  const auto at = [&](size_t i) {
    return rows.begin() + static_cast<std::ptrdiff_t>(i < starts.size() ? starts[i] : rows.size());
  };
  for (size_t width = 1; width < starts.size(); width *= 2) {
    for (size_t i = 0; i + width < starts.size(); i += 2 * width) {
      std::inplace_merge(at(i), at(i + width), at(i + 2 * width), less);
    }
  }
}

}  // namespace batchlight
