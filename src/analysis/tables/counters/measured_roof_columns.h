// The columns of a measured roofline, of a kernel's and of a step's: where it stands under its
// roofs for people, and behind these what was counted and the peaks at the clocks of the
// measurement.
#pragma once

#include "analysis/counters/kernel_roofline.h"
#include "analysis/result/result_column.h"

namespace batchlight {

const Columns<KernelRoofline>& RoofColumns();
const Columns<KernelRoofline>& RoofCountColumns();

// The same of rows that have a roofline, which of(row) gives.
template <typename Row, typename Of>
Columns<Row> ColumnsOfRoofline(const Columns<KernelRoofline>& columns, Of of) {
  Columns<Row> all;
  for (const ColumnOf<KernelRoofline>& entry : columns) {
    all.push_back(
        {entry.column, [of, value = entry.value](const Row& row) { return value(of(row)); }});
  }
  return all;
}
template <typename Row, typename Of>
Columns<Row> RoofColumnsOf(Of of) {
  return ColumnsOfRoofline<Row>(RoofColumns(), of);
}
template <typename Row, typename Of>
Columns<Row> RoofCountColumnsOf(Of of) {
  return ColumnsOfRoofline<Row>(RoofCountColumns(), of);
}

}  // namespace batchlight
