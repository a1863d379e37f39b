// kernel_launches with one row for each launch configuration: kernels are many, these are few.
#pragma once

#include <unordered_map>

#include "store/store.h"

namespace batchlight {

class DistinctLaunches {
 public:
  // `table` must be empty, outlive this and be changed by nobody else.
  explicit DistinctLaunches(KernelLaunchesTable& table) : table_(table) {}

  // The row that is equal to `launch`; a new one if there is none.
  KernelLaunchId RowOf(const KernelLaunchesRow& launch);

 private:
  struct Hash {
    size_t operator()(const KernelLaunchesRow& launch) const;
  };
  KernelLaunchesTable& table_;
  std::unordered_map<KernelLaunchesRow, KernelLaunchId, Hash> rows_;
};

// Makes equal rows of store.kernel_launches one, the first of them.
void MergeEqualLaunches(Store& store);

}  // namespace batchlight
