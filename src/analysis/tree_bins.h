// Steps put together into few bins, so that a tree can keep its times per bin: a reader who selects
// steps gets the sums of their bins.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/attribution_tree.h"
#include "analysis/steps.h"
#include "store/store.h"

namespace batchlight {

class TreeBins {
 public:
  static constexpr size_t kMost = 96;

  TreeBins(const Store& store, const StepSet& steps);

  const std::vector<TreeBin>& bins() const { return bins_; }
  uint32_t outside() const { return static_cast<uint32_t>(bins_.size()); }
  // The bin of the step around this moment. Cheap when asked in order of (thread, time).
  uint32_t Of(ThreadId thread, int64_t time_ns) {
    if (thread != thread_) Enter(thread);
    if (time_ns < from_ || time_ns >= to_) Seek(time_ns);
    return bin_;
  }

 private:
  void Enter(ThreadId thread);
  void Seek(int64_t time_ns);
  void CountSteps();

  const Store& store_;
  const StepSet& steps_;
  std::vector<TreeBin> bins_;
  std::vector<uint32_t> bin_of_step_;
  const ProcessSteps* process_ = nullptr;
  ThreadId thread_;
  int64_t from_ = 0;
  int64_t to_ = 0;
  uint32_t bin_ = 0;
};

}  // namespace batchlight
