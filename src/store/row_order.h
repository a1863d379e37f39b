// Puts rows in order and keeps the ids that refer to them correct.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "store/store.h"

namespace batchlight {

template <typename Table>
auto RowIdTag() {
  if constexpr (requires { typename Table::RowId; }) return typename Table::RowId();
}
// The type of ids of a table's rows; void without one.
template <typename Table>
using RowIdOf = decltype(RowIdTag<Table>());

// Ids of type RowId, in all tables, now mean row new_rows[id]. Ids beyond become None.
template <typename RowId>
void RenumberIds(Store& store, std::span<const uint32_t> new_rows);

// The new place of each row if row i becomes the old row order[i].
std::vector<uint32_t> NewRows(std::span<const uint32_t> order);

// Makes row i of a table the old row order[i]; ids of its rows follow.
template <typename Table>
void ReorderRows(Store& store, Table& table, std::span<const uint32_t> order) {
  table.Reorder(order);
  if constexpr (!std::is_void_v<RowIdOf<Table>>) {
    RenumberIds<RowIdOf<Table>>(store, NewRows(order));
  }
}

// Orders all tables as their ORDER lines in schema.def say, except those of kDatedByCall, whose
// rows have their times only once calls are known.
void OrderTables(Store& store);
void OrderDatedTables(Store& store);

}  // namespace batchlight
