// Keeps kernel_launches at one row per launch configuration: there are many kernels but few
// configurations.
#pragma once

#include <unordered_map>

#include "store/store.h"

namespace batchlight {

class DistinctLaunches {
 public:
  // `table` must be empty, outlive this and be changed by nobody else.
  explicit DistinctLaunches(KernelLaunchesTable& table) : table_(table) {}

  // The row equal to `launch`, added if there is none.
  KernelLaunchId RowOf(const KernelLaunchesRow& launch);

 private:
  struct Hash {
    size_t operator()(const KernelLaunchesRow& launch) const;
  };
  KernelLaunchesTable& table_;
  std::unordered_map<KernelLaunchesRow, KernelLaunchId, Hash> rows_;
};

// Merges equal rows of store.kernel_launches into the first of them.
void MergeEqualLaunches(Store& store);

}  // namespace batchlight
