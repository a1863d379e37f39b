// Groups steps into a few bins, so that a tree can keep its times per bin: a reader who selects
// steps gets the sums of their bins. With several ranks, each has bins of its own in addition to
// those of all ranks together.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/step_bins.h"
#include "analysis/steps/step_lookup.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

// Bins whose `steps` are not counted yet, and the bin of every step.
struct StepCut {
  std::vector<StepBin> bins;
  std::vector<uint32_t> bin_of_step;
};
// The steps of one process in at most `most` bins, which is at least two.
StepCut CutSteps(const ProcessSteps& process, size_t most);

// The columns of one moment.
struct BinPlace {
  static constexpr uint32_t kNowhere = UINT32_MAX;

  uint32_t bin = 0;
  uint32_t rank_column = kNowhere;  // kNowhere: in no step of a rank that is kept apart
};

class BinFinder {
 public:
  static constexpr size_t kMost = 96;              // of all ranks together
  static constexpr size_t kMostRankColumns = 128;  // of the ranks apart, summed over them
  static constexpr size_t kMostRanks = kMostRankColumns / 2;

  BinFinder(const Store& store, const StepSet& steps);

  const std::vector<StepBin>& bins() const { return bins_; }
  const std::vector<RankBins>& ranks() const { return ranks_; }
  size_t rank_columns() const { return rank_columns_; }
  BinPlace outside() const { return {static_cast<uint32_t>(bins_.size())}; }
  // The bins of the step around this moment. Cheap when asked in order of (thread, time).
  BinPlace Of(ThreadId thread, int64_t time_ns) {
    if (thread != thread_) Enter(thread);
    if (const size_t row = lookup_.RowAt(time_ns); row != row_) SetPlace(row);
    return place_;
  }

 private:
  void CutAllRanks(size_t most);
  void AddRank(const ProcessSteps& process, size_t most);
  void Enter(ThreadId thread);
  void SetPlace(size_t row);
  void CountSteps();

  const Store& store_;
  const StepSet& steps_;
  std::vector<StepBin> bins_;
  std::vector<uint32_t> bin_of_step_[2];   // of steps that do not count, and that do
  std::vector<std::vector<bool>> steady_;  // by rank and step
  std::vector<RankBins> ranks_;
  std::vector<std::vector<uint32_t>> column_of_step_;  // by rank
  size_t rank_columns_ = 0;
  const ProcessSteps* process_ = nullptr;
  ThreadId thread_;
  StepLookup lookup_;
  size_t row_ = StepLookup::kNone;  // of the step for which place_ holds
  BinPlace place_;
};

}  // namespace batchlight
