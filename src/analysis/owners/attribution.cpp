#include "analysis/owners/attribution.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/owners/backward_links.h"
#include "analysis/phases/phase_marks.h"
#include "analysis/steps/step_inputs.h"
#include "base/thread_pool.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

// A graph node is numbered per process.
struct NodeKey {
  uint32_t process;
  uint64_t node;
  friend bool operator==(const NodeKey&, const NodeKey&) = default;
};
struct NodeHash {
  size_t operator()(const NodeKey& key) const {
    return (key.node * 0x9e3779b97f4a7c15u) ^ key.process;
  }
};

class Attributor {
 public:
  Attributor(const Store& store, const IntervalIndex& operators, const BackwardLinks& links)
      : store_(store),
        links_(links),
        operators_(operators),
        modules_(store.module_calls.thread, store.module_calls.start_ns, store.module_calls.end_ns),
        ranges_(
            store.nvtx_ranges.thread, store.nvtx_ranges.start_ns, store.nvtx_ranges.end_ns,
            [&store](uint32_t row) { return store.nvtx_ranges.style[row] != NvtxStyle::kPushPop; }),
        phases_(store.phase_calls.thread, store.phase_calls.start_ns, store.phase_calls.end_ns,
                [&store](uint32_t row) {
                  return PhaseKindOfCall(store.phase_calls.phase[row]) == PhaseKind::kOther;
                }),
        backward_names_(store.strings.size()) {
    FindBackwards();
    const GraphNodesTable& nodes = store.graph_nodes;
    for (uint32_t row = 0; row < nodes.size(); ++row) {
      const NodeKey key{store.ProcessOf(nodes.thread[row]).value, nodes.graph_node[row]};
      nodes_.try_emplace(key, row);
    }
  }

  template <typename Table>
  std::vector<WorkOwner> Attribute(const Table& table) const {
    constexpr size_t kBatch = 1 << 14;
    std::vector<WorkOwner> owners(table.size());
    ParallelFor((table.size() + kBatch - 1) / kBatch, [&](size_t batch) {
      std::vector<Hints> hints(store_.threads.size());
      const size_t end = std::min(table.size(), (batch + 1) * kBatch);
      for (size_t row = batch * kBatch; row < end; ++row) owners[row] = OwnerOf(table, row, hints);
    });
    return owners;
  }

 private:
  // Where to look next on a thread: its launches come almost in order.
  struct Hints {
    uint32_t op = kNoRow;
    uint32_t range = kNoRow;
    uint32_t module = kNoRow;
    uint32_t phase = kNoRow;
  };

  template <typename Table>
  WorkOwner OwnerOf(const Table& table, size_t row, std::vector<Hints>& hints) const {
    if constexpr (requires { table.graph_node; }) {
      if (table.graph_node[row] != 0) {
        const WorkOwner captured = OwnerOfNode(table.process[row], table.graph_node[row], hints);
        if (!captured.IsNobody()) return captured;
      }
    }
    const ApiCallId call = table.api_call[row];
    if (call.IsNone()) return {};
    return OwnerAt(store_.api_calls.thread[call.row()], store_.api_calls.start_ns[call.row()],
                   hints);
  }

  // Nodes of an instantiated graph are clones; their originals were made during the capture.
  WorkOwner OwnerOfNode(ProcessId process, uint64_t node, std::vector<Hints>& hints) const {
    constexpr int kMaxClones = 8;
    for (int depth = 0; depth < kMaxClones && node != 0; ++depth) {
      const auto found = nodes_.find({process.value, node});
      if (found == nodes_.end()) return {};
      const uint64_t original = store_.graph_nodes.original_graph_node[found->second];
      if (original == 0) {
        return OwnerAt(store_.graph_nodes.thread[found->second],
                       store_.graph_nodes.start_ns[found->second], hints);
      }
      node = original;
    }
    return {};
  }

  WorkOwner OwnerAt(ThreadId thread, int64_t time_ns, std::vector<Hints>& all_hints) const {
    WorkOwner owner;
    if (thread.IsNone()) return owner;
    owner.thread = thread;
    Hints& hints = all_hints[thread.row()];
    const uint32_t op = operators_.Innermost(thread, time_ns, hints.op);
    const uint32_t range = ranges_.Innermost(thread, time_ns, hints.range);
    uint32_t module = modules_.Innermost(thread, time_ns, hints.module);
    const uint32_t phase = phases_.Innermost(thread, time_ns, hints.phase);
    if (phase != kNoRow) owner.phase = PhaseCallId::At(phase);
    if (range != kNoRow) owner.range = NvtxRangeId::At(range);
    if (op != kNoRow) {
      owner.op = OperatorCallId::At(op);
      owner.forward_op = links_.ForwardOf(owner.op);
      // The engine sums up a bias's gradient, and gradients that meet, behind the function itself.
      owner.backward = !owner.forward_op.IsNone() || links_.IsInBackward(owner.op);
    }
    if (!owner.forward_op.IsNone()) {
      // Inside a module's forward (activation checkpointing) the module around wins.
      const OperatorCallsTable& calls = store_.operator_calls;
      const size_t forward = owner.forward_op.row();
      if (module == kNoRow)
        module = modules_.Innermost(calls.thread[forward], calls.start_ns[forward]);
    }
    if (module != kNoRow) owner.module = ModuleCallId::At(module);
    if (owner.phase.IsNone() && module == kNoRow) SetBackward(thread, time_ns, owner);
    return owner;
  }

  // A backward of another thread of the process that was open: a traced call, or the user's range.
  void SetBackward(ThreadId thread, int64_t time_ns, WorkOwner& owner) const {
    for (const ThreadId caller : backwards_) {
      if (caller == thread || store_.ProcessOf(caller) != store_.ProcessOf(thread)) continue;
      const uint32_t phase = phases_.Innermost(caller, time_ns);
      if (phase != kNoRow &&
          PhaseKindOfCall(store_.phase_calls.phase[phase]) == PhaseKind::kBackward) {
        owner.phase = PhaseCallId::At(phase);
        owner.backward = true;
        return;
      }
      if (!owner.range.IsNone()) continue;
      uint32_t range = ranges_.Innermost(caller, time_ns);
      while (range != kNoRow && !IsBackward(store_.nvtx_ranges.message[range])) {
        range = ranges_.Outer(range, time_ns);
      }
      if (range == kNoRow) continue;
      owner.range = NvtxRangeId::At(range);
      owner.backward = true;
      return;
    }
  }

  bool IsBackward(StringId range_name) const {
    return !range_name.IsNone() && backward_names_[range_name.row()];
  }

  // Threads that call backward.
  void FindBackwards() {
    const PhaseCallsTable& calls = store_.phase_calls;
    const auto add = [&](ThreadId thread) {
      if (std::find(backwards_.begin(), backwards_.end(), thread) == backwards_.end()) {
        backwards_.push_back(thread);
      }
    };
    for (size_t row = 0; row < calls.size(); ++row) {
      if (PhaseKindOfCall(calls.phase[row]) == PhaseKind::kBackward) add(calls.thread[row]);
    }
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    std::vector<uint8_t> seen(store_.strings.size());
    for (size_t row = 0; row < ranges.size(); ++row) {
      if (ranges.message[row].IsNone()) continue;
      const size_t name = ranges.message[row].row();
      if (seen[name] == 0) {
        seen[name] = 1;
        backward_names_[name] =
            PhaseOfRangeName(store_.Text(ranges.message[row])) == PhaseKind::kBackward;
      }
      if (backward_names_[name]) add(ranges.thread[row]);
    }
  }

  const Store& store_;
  const BackwardLinks& links_;
  const IntervalIndex& operators_;
  IntervalIndex modules_;
  IntervalIndex ranges_;
  IntervalIndex phases_;
  std::vector<bool> backward_names_;  // by string
  std::vector<ThreadId> backwards_;
  std::unordered_map<NodeKey, uint32_t, NodeHash> nodes_;
};

}  // namespace

Attribution AttributeWork(const StepInputs& inputs, const BackwardLinks& links) {
  const Store& store = inputs.store;
  Attribution attribution;
  if (store.kernels.size() + store.memcpys.size() + store.memsets.size() +
          store.graph_launches.size() ==
      0) {
    return attribution;
  }
  const Attributor attributor(store, inputs.operators(), links);
  attribution.kernels = attributor.Attribute(store.kernels);
  attribution.memcpys = attributor.Attribute(store.memcpys);
  attribution.memsets = attributor.Attribute(store.memsets);
  attribution.graph_launches = attributor.Attribute(store.graph_launches);
  VisitWork(store, attribution, [&](const WorkOwner& owner, int64_t duration_ns, int64_t) {
    attribution.total_ns += duration_ns;
    if (owner.IsNobody()) attribution.unattributed_ns += duration_ns;
  });
  return attribution;
}

Attribution AttributeWork(const Store& store, const BackwardLinks& links) {
  return AttributeWork(StepInputs(store), links);
}

}  // namespace batchlight
