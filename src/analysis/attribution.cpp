#include "analysis/attribution.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/backward_links.h"
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
  Attributor(const Store& store, const BackwardLinks& links)
      : store_(store),
        links_(links),
        operators_(store.operator_calls.thread, store.operator_calls.start_ns,
                   store.operator_calls.end_ns),
        modules_(store.module_calls.thread, store.module_calls.start_ns, store.module_calls.end_ns),
        ranges_(store.nvtx_ranges.thread, store.nvtx_ranges.start_ns, store.nvtx_ranges.end_ns,
                [&store](uint32_t row) {
                  return store.nvtx_ranges.style[row] != static_cast<uint8_t>(NvtxStyle::kPushPop);
                }) {
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
      const size_t end = std::min(table.size(), (batch + 1) * kBatch);
      for (size_t row = batch * kBatch; row < end; ++row) owners[row] = OwnerOf(table, row);
    });
    return owners;
  }

 private:
  template <typename Table>
  WorkOwner OwnerOf(const Table& table, size_t row) const {
    if constexpr (requires { table.graph_node; }) {
      if (table.graph_node[row] != 0) {
        const WorkOwner captured = OwnerOfNode(table.process[row], table.graph_node[row]);
        if (!captured.IsNobody()) return captured;
      }
    }
    const ApiCallId call = table.api_call[row];
    if (call.IsNone()) return {};
    return OwnerAt(store_.api_calls.thread[call.row()], store_.api_calls.start_ns[call.row()]);
  }

  // Nodes of an instantiated graph are clones; their originals were made during the capture.
  WorkOwner OwnerOfNode(ProcessId process, uint64_t node) const {
    constexpr int kMaxClones = 8;
    for (int depth = 0; depth < kMaxClones && node != 0; ++depth) {
      const auto found = nodes_.find({process.value, node});
      if (found == nodes_.end()) return {};
      const uint64_t original = store_.graph_nodes.original_graph_node[found->second];
      if (original == 0) {
        return OwnerAt(store_.graph_nodes.thread[found->second],
                       store_.graph_nodes.start_ns[found->second]);
      }
      node = original;
    }
    return {};
  }

  WorkOwner OwnerAt(ThreadId thread, int64_t time_ns) const {
    WorkOwner owner;
    if (thread.IsNone()) return owner;
    owner.thread = thread;
    const uint32_t op = operators_.Innermost(thread, time_ns);
    const uint32_t range = ranges_.Innermost(thread, time_ns);
    uint32_t module = modules_.Innermost(thread, time_ns);
    if (range != kNoRow) owner.range = NvtxRangeId::At(range);
    if (op != kNoRow) {
      owner.op = OperatorCallId::At(op);
      owner.backward = links_.IsInBackward(owner.op);
      owner.forward_op = links_.ForwardOf(owner.op);
    }
    if (!owner.forward_op.IsNone()) {
      // Inside a module's forward (activation checkpointing) the module around wins.
      const OperatorCallsTable& calls = store_.operator_calls;
      const size_t forward = owner.forward_op.row();
      if (module == kNoRow)
        module = modules_.Innermost(calls.thread[forward], calls.start_ns[forward]);
    }
    if (module != kNoRow) owner.module = ModuleCallId::At(module);
    return owner;
  }

  const Store& store_;
  const BackwardLinks& links_;
  IntervalIndex operators_;
  IntervalIndex modules_;
  IntervalIndex ranges_;
  std::unordered_map<NodeKey, uint32_t, NodeHash> nodes_;
};

}  // namespace

Attribution AttributeWork(const Store& store, const BackwardLinks& links) {
  Attribution attribution;
  if (store.kernels.size() + store.memcpys.size() + store.memsets.size() +
          store.graph_launches.size() ==
      0) {
    return attribution;
  }
  const Attributor attributor(store, links);
  attribution.kernels = attributor.Attribute(store.kernels);
  attribution.memcpys = attributor.Attribute(store.memcpys);
  attribution.memsets = attributor.Attribute(store.memsets);
  attribution.graph_launches = attributor.Attribute(store.graph_launches);
  VisitWork(store, attribution, [&](const WorkOwner& owner, int64_t duration_ns) {
    attribution.total_ns += duration_ns;
    if (owner.IsNobody()) attribution.unattributed_ns += duration_ns;
  });
  return attribution;
}

}  // namespace batchlight
