// The push/pop stacks of the ranges that a query keeps: ids, levels, children. As in nsys a stack
// is a thread's, whatever the domains: cublasCreate in the domain cuBLAS is a child of the step it
// is called in.
#pragma once

#include <string>
#include <vector>

#include "analysis/stats/stats_report.h"

namespace batchlight::stats {

class RangeStacks {
 public:
  static constexpr uint32_t kNoRange = UINT32_MAX;

  // Start/end ranges are on a stack only if they end on their own thread.
  RangeStacks(const Query& query, bool push_pop_only);

  // Rows of nvtx_ranges by id.
  const std::vector<uint32_t>& rows() const { return rows_; }
  int64_t End(size_t row) const;
  uint64_t Id(size_t row) const { return ids_[row]; }  // 0: not kept
  uint32_t Parent(size_t row) const { return parents_[row]; }
  int64_t Level(size_t row) const;
  int64_t ChildCount(size_t row) const { return children_[row]; }
  int64_t ChildTime(size_t row) const { return child_time_[row]; }
  std::string Stack(size_t row) const;  // ":1:3", outermost first

 private:
  void FindParents();

  Query query_;
  int64_t latest_ = 0;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> ids_;        // by row of nvtx_ranges
  std::vector<uint32_t> parents_;    // likewise
  std::vector<uint32_t> children_;   // likewise
  std::vector<int64_t> child_time_;  // likewise
};

// Fills the PID and TID cells of a thread.
void SetThread(const Store& store, ThreadId thread, Cell& pid, Cell& tid);

}  // namespace batchlight::stats
