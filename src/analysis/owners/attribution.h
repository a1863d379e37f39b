// Which operator, module and range each piece of GPU work belongs to: those that were open on the
// launching thread at the time of the launching call (which ingest joins by process and correlation
// id). Work of a backward function belongs to the module of the forward operator that it
// differentiates. Kernels of a replayed CUDA graph belong to what was open when their node was
// captured or, if the capture was not recorded, to what was open around the replay. Work launched
// by one of autograd's threads belongs at least to the backward() that waits for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/store.h"

namespace batchlight {

class BackwardLinks;
struct StepInputs;

// All None: nothing was open around the launch, or the launch is not known.
struct WorkOwner {
  OperatorCallId op;          // innermost operator
  OperatorCallId forward_op;  // the forward operator that `op` differentiates, or None
  ModuleCallId module;        // innermost module; in backward the forward operator's
  NvtxRangeId range;          // innermost range of any domain
  PhaseCallId phase;          // traced call of the training loop around it
  ThreadId thread;            // that launched it
  bool backward = false;

  bool IsNobody() const {
    return op.IsNone() && module.IsNone() && range.IsNone() && phase.IsNone();
  }
};

struct Attribution {
  // One entry per row of the store's table of the same name.
  std::vector<WorkOwner> kernels;
  std::vector<WorkOwner> memcpys;
  std::vector<WorkOwner> memsets;
  std::vector<WorkOwner> graph_launches;

  int64_t total_ns = 0;         // summed durations of all of that work
  int64_t unattributed_ns = 0;  // of that, without an owner
};

Attribution AttributeWork(const StepInputs& inputs, const BackwardLinks& links);
Attribution AttributeWork(const Store& store, const BackwardLinks& links);

// visit(owner, start_ns, end_ns, launched_ns) for every kernel, copy, set and graph launch.
// launched_ns: when the launching call began or, if that was not recorded, when the work itself
// began.
template <typename Visitor>
void VisitTimesOfWork(const Store& store, const Attribution& attribution, Visitor&& visit) {
  const auto table = [&](const auto& rows, const std::vector<WorkOwner>& owners) {
    for (size_t row = 0; row < owners.size(); ++row) {
      if (rows.end_ns[row] == kOpenEnd) continue;
      const ApiCallId call = rows.api_call[row];
      visit(owners[row], rows.start_ns[row], rows.end_ns[row],
            call.IsNone() ? rows.start_ns[row] : store.api_calls.start_ns[call.row()]);
    }
  };
  table(store.kernels, attribution.kernels);
  table(store.memcpys, attribution.memcpys);
  table(store.memsets, attribution.memsets);
  table(store.graph_launches, attribution.graph_launches);
}

// visit(owner, duration_ns, launched_ns): the same.
template <typename Visitor>
void VisitWork(const Store& store, const Attribution& attribution, Visitor&& visit) {
  VisitTimesOfWork(store, attribution,
                   [&](const WorkOwner& owner, int64_t start_ns, int64_t end_ns,
                       int64_t launched_ns) { visit(owner, end_ns - start_ns, launched_ns); });
}

}  // namespace batchlight
