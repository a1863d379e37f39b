// Leaves out calls that lie wholly outside of the time asked for, as they end: the last row of a
// table goes again, and then, when that ends, the call that it lay in. What is left is closed under
// "lies in": whoever contains a call of that time touches the time too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ingest/decode/recorded_parts.h"

namespace batchlight {

// Of one table of a fragment.
class OutsideRows {
 public:
  explicit OutsideRows(const RecordedParts& parts) : parts_(parts) {}

  // The first `rows` rows stay: the pieces count by them.
  void Keep(uint32_t rows) { kept_ = std::max(kept_, rows); }

  // The call of that row has ended.
  template <typename Table>
  void Ended(Table& table, uint32_t row) {
    if (row < kept_ || row + 1 != table.start_ns.size()) return;
    if (table.end_ns[row] >= parts_.first_ns && table.start_ns[row] <= parts_.last_ns) return;
    table.VisitColumns([](auto, auto, auto& column) { column.pop_back(); });
  }

 private:
  const RecordedParts& parts_;
  uint32_t kept_ = 1;  // by whether a table has rows a reader tells what was recorded
};

}  // namespace batchlight
