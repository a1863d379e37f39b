#include "store/distinct_launches.h"

#include "store/row_order.h"

namespace batchlight {

// Hashes only the columns in which launches usually differ; equality compares all columns.
size_t DistinctLaunches::Hash::operator()(const KernelLaunchesRow& launch) const {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto add = [&](uint64_t high, uint64_t low) {
    hash = (hash ^ (high << 32 | low)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
  };
  add(launch.grid_x, launch.grid_y);
  add(launch.grid_z, launch.block_x);
  add(launch.block_y, launch.block_z);
  add(launch.registers_per_thread, launch.dynamic_shared_bytes);
  add(launch.static_shared_bytes, launch.shared_executed_bytes);
  add(0, launch.local_bytes_total);
  return hash;
}

KernelLaunchId DistinctLaunches::RowOf(const KernelLaunchesRow& launch) {
  const auto [place, added] = rows_.try_emplace(launch, KernelLaunchId::At(table_.size()));
  if (added) table_.Append(launch);
  return place->second;
}

void MergeEqualLaunches(Store& store) {
  KernelLaunchesTable merged;
  DistinctLaunches distinct(merged);
  std::vector<uint32_t> new_rows;
  new_rows.reserve(store.kernel_launches.size());
  for (size_t row = 0; row < store.kernel_launches.size(); ++row) {
    new_rows.push_back(distinct.RowOf(store.kernel_launches.Row(row)).value);
  }
  if (merged.size() == new_rows.size()) return;
  store.kernel_launches = std::move(merged);
  RenumberIds<KernelLaunchId>(store, new_rows);
}

}  // namespace batchlight
