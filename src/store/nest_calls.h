// Parents and depths of calls by their times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "store/tables.h"

namespace batchlight {

// NVTX times are exact to the nanosecond, so a range that ends after another is not inside it; nsys
// agrees. Operator traces may be rounded to microseconds, where a call can end a moment after its
// caller and would then move to the top. So there it suffices that the caller is open when the call
// starts.
template <typename Table>
constexpr bool kMustEnclose = requires {
  Table::kParentEncloses;
};

// The calls open at a moment on one thread or, in a table with domains, in one domain of it.
template <typename Table>
class OpenCalls {
 public:
  explicit OpenCalls(const Table& table) : table_(table) {}

  // Returns the parent of a call, or None, and opens the call. Call it in the table's order.
  typename Table::RowId Enter(size_t row) {
    std::vector<uint32_t>& open = OpenBeside(row);
    const auto ended = [&](uint32_t other) { return table_.end_ns[other] <= table_.start_ns[row]; };
    while (!open.empty() && ended(open.back())) open.pop_back();
    if constexpr (kMustEnclose<Table>) {
      // What ends before this call encloses no later one that this call does not enclose too. So
      // the open calls end ever later outwards, however many overlap.
      const auto ends_before = [&](uint32_t other) {
        return table_.end_ns[other] < table_.end_ns[row];
      };
      while (!open.empty() && ends_before(open.back())) open.pop_back();
    }
    typename Table::RowId parent;
    if (!open.empty()) parent.value = open.back();
    open.push_back(static_cast<uint32_t>(row));
    return parent;
  }

 private:
  struct Open {
    ThreadId thread;
    std::vector<uint32_t> rows;  // innermost last
  };

  std::vector<uint32_t>& OpenBeside(size_t row) {
    size_t domain = 0;
    if constexpr (requires { table_.domain; }) {
      domain = table_.domain[row].IsNone() ? 0 : table_.domain[row].row() + 1;
    }
    if (domain >= open_.size()) open_.resize(domain + 1);
    Open& open = open_[domain];
    if (open.thread != table_.thread[row]) {
      open.thread = table_.thread[row];
      open.rows.clear();
    }
    return open.rows;
  }

  const Table& table_;
  std::vector<Open> open_;  // by domain, the default one first
};

// The rows must be in the table's order. Start/end ranges take no part.
template <typename Table>
void NestByTime(Table& table) {
  OpenCalls<Table> calls(table);
  for (size_t row = 0; row < table.size(); ++row) {
    table.parent[row] = {};
    table.depth[row] = 0;
    if constexpr (requires { table.style; }) {
      if (table.style[row] != NvtxStyle::kPushPop) continue;
    }
    const auto parent = calls.Enter(row);
    table.parent[row] = parent;
    if (parent.IsNone()) continue;
    const uint32_t depth = table.depth[parent.row()] + uint32_t{1};
    table.depth[row] = static_cast<uint16_t>(std::min<uint32_t>(depth, UINT16_MAX));
  }
}

}  // namespace batchlight
