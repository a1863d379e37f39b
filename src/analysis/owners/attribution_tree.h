// Where the time goes, as one tree: model -> module -> operator -> kernel. Forward and backward
// stand beside each other: a backward function is below the operator that it differentiates,
// wherever it ran (analysis/owners/backward_links.h), and so are its kernels. What runs in no
// module is below the phase of the training loop around it; GPU work that belongs to nothing has a
// root of its own.
//
// CPU time is time that the step waits for (critical_time.h), on whichever thread; what other
// threads do meanwhile is kept apart. A node's own time excludes the nodes inside it, so that all
// own times add up to at most the step. GPU time is the
// duration of the work: work that runs side by side is counted twice. A call belongs to the step in
// which it began, GPU work to the step that launched it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/numbers/time_span.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_bins.h"
#include "analysis/steps/steps.h"
#include "store/store.h"

namespace batchlight {

class BackwardLinks;
class CriticalTime;
struct Attribution;

enum class TreeKind : uint8_t {
  kPhase,  // of the training loop, outside of modules
  kRange,  // NVTX range; where neither modules nor operators were recorded
  kModule,
  kOperator,
  kKernel,  // this and the following: work on the GPU, leaves
  kCopy,
  kMemset,
  kGraph,
  kNobody,  // root of GPU work that belongs to nothing
};
inline bool IsGpuWork(TreeKind kind) {
  return kind >= TreeKind::kKernel && kind != TreeKind::kNobody;
}
std::string_view TreeKindName(TreeKind kind);  // "module"

struct TreeNode {
  std::string name;           // module path, operator, demangled kernel, "backward"
  StringId detail;            // class of a module, first input shapes of an operator; or None
  uint32_t more_details = 0;  // calls whose shapes differed from those of the call before
  int32_t parent = -1;
  uint16_t depth = 0;
  TreeKind kind = TreeKind::kPhase;
  bool backward = false;  // part of the backward pass
  TimeSpan longest{};     // call, or work on the GPU: in steps that count if there is one
  // Means per step over steady steps; of the whole run where there are no steps.
  double calls = 0;
  double self_ns = 0;      // CPU time of a call without nodes inside; GPU time of work
  double gpu_self_ns = 0;  // work that it launched itself
  double beside_ns = 0;    // on other threads; this and the following: with all nodes inside
  double cpu_forward_ns = 0;
  double cpu_backward_ns = 0;
  double gpu_forward_ns = 0;
  double gpu_backward_ns = 0;

  double cpu_ns() const { return cpu_forward_ns + cpu_backward_ns; }
  double gpu_ns() const { return gpu_forward_ns + gpu_backward_ns; }
};

struct AttributionTree {
  std::vector<TreeNode> nodes;  // parents before children, in order of first call
  std::vector<StepBin> bins;    // empty: no steps
  // Own time and calls of every node in every bin, whatever its kind: [node * columns() + bin]. The
  // last column is what lies in no step.
  std::vector<int64_t> self_ns;
  std::vector<int64_t> beside_ns;  // own time on other threads
  std::vector<uint32_t> calls;
  // The same of every rank, in its steps only: [node * rank_columns + rank.column + bin].
  std::vector<RankBins> ranks;  // of StepSet::processes the first; empty: there are no two
  std::vector<int64_t> rank_self_ns;
  std::vector<int64_t> rank_beside_ns;
  std::vector<uint32_t> rank_calls;
  size_t rank_columns = 0;
  bool per_step = false;
  double step_ns = 0;  // mean step, for shares; 0 without steps

  size_t columns() const { return bins.size() + 1; }
  // The at most `most` nodes with the largest shares of CPU or GPU time, together with their
  // ancestors. Ascending.
  std::vector<uint32_t> LargestNodes(size_t most) const;
};

AttributionTree BuildAttributionTree(const Store& store, const StepSet& steps,
                                     const CriticalTime& critical, const PhaseMarks& marks,
                                     const BackwardLinks& links, const Attribution& work);

}  // namespace batchlight
