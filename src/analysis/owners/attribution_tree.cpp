#include "analysis/owners/attribution_tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "analysis/numbers/closed_end.h"
#include "analysis/numbers/most_levels.h"
#include "analysis/owners/attribution.h"
#include "analysis/owners/backward_links.h"
#include "analysis/owners/critical_time.h"
#include "analysis/owners/engine_call.h"
#include "analysis/owners/tree_nodes.h"
#include "analysis/steps/bin_finder.h"
#include "analysis/steps/step_range_names.h"
#include "store/interval_index.h"

namespace batchlight {
namespace {

constexpr uint32_t kNoNode = UINT32_MAX;

// An open call of the thread that is being walked.
struct Frame {
  int64_t end_ns;
  uint32_t node;
  BinPlace place;
  TreeKind kind;
};

class TreeBuilder {
 public:
  TreeBuilder(const Store& store, const StepSet& steps, const CriticalTime& critical,
              const PhaseMarks& marks, const BackwardLinks& links)
      : store_(store),
        critical_(critical),
        marks_(marks),
        links_(links.links()),
        bins_(store, steps),
        nodes_(bins_.bins().size(), bins_.rank_columns()),
        with_ranges_(store.module_calls.size() + store.operator_calls.size() == 0),
        canonical_(store.strings.size(), kNoNode),
        node_of_operator_(store.operator_calls.size(), kNoNode),
        node_of_module_(store.module_calls.size(), kNoNode),
        node_of_range_(with_ranges_ ? store.nvtx_ranges.size() : 0, kNoNode) {}

  AttributionTree Build(const Attribution& work) {
    const ThreadSpans operators(store_.operator_calls.thread);
    const ThreadSpans modules(store_.module_calls.thread);
    const ThreadSpans ranges(store_.nvtx_ranges.thread);
    for (size_t row = 0; row < store_.threads.size(); ++row) {
      thread_ = ThreadId::At(row);
      phase_ = marks_.RowsOf(thread_);
      module_ = modules.Of(thread_);
      operator_ = operators.Of(thread_);
      range_ = with_ranges_ ? ranges.Of(thread_) : ThreadSpans::Rows{};
      WalkThread();
    }
    AddWork(store_.kernels, work.kernels, TreeKind::kKernel);
    AddWork(store_.memcpys, work.memcpys, TreeKind::kCopy);
    AddWork(store_.memsets, work.memsets, TreeKind::kMemset);
    AddWork(store_.graph_launches, work.graph_launches, TreeKind::kGraph);
    AttributionTree tree;
    tree.bins = bins_.bins();
    tree.ranks = bins_.ranks();
    tree.rank_columns = bins_.rank_columns();
    nodes_.MoveInto(tree);
    return tree;
  }

 private:
  // The calls of all kinds in order of their start, outer ones first.
  void WalkThread() {
    stack_.clear();
    const OperatorCallsTable& operators = store_.operator_calls;
    const ModuleCallsTable& modules = store_.module_calls;
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    for (;;) {
      const int64_t phase = phase_.empty() ? INT64_MAX : marks_.all()[phase_.begin].start_ns;
      const int64_t range = range_.empty() ? INT64_MAX : ranges.start_ns[range_.begin];
      const int64_t module = module_.empty() ? INT64_MAX : modules.start_ns[module_.begin];
      const int64_t op = operator_.empty() ? INT64_MAX : operators.start_ns[operator_.begin];
      const int64_t first = std::min({phase, range, module, op});
      if (first == INT64_MAX) return;
      Leave(first);
      if (first == phase) {
        EnterPhase(marks_.all()[phase_.begin++]);
      } else if (first == range) {
        EnterRange(range_.begin++);
      } else if (first == module) {
        EnterModule(module_.begin++);
      } else {
        EnterOperator(operator_.begin++);
      }
    }
  }

  // Calls that end before `time_ns`. Calls of different kinds need not nest.
  void Leave(int64_t time_ns) {
    if (overlap_) {
      std::erase_if(stack_, [&](const Frame& frame) { return frame.end_ns <= time_ns; });
      overlap_ = stack_.size() > 1;
      return;
    }
    while (!stack_.empty() && stack_.back().end_ns <= time_ns) stack_.pop_back();
  }

  void EnterPhase(const PhaseMark& mark) {
    if (mark.implied) return;
    const uint32_t parent = Innermost([](const Frame& frame) {
      return frame.kind == TreeKind::kPhase || frame.kind == TreeKind::kModule;
    });
    const uint32_t node = PhaseNode(mark.kind, parent);
    Enter(node, mark.start_ns, mark.end_ns, TreeKind::kPhase, node == parent ? 0 : 1);
  }

  uint32_t PhaseNode(PhaseKind kind, uint32_t parent) {
    if (parent != TreeNodes::kRoot && nodes_.key(parent).kind == TreeKind::kPhase &&
        nodes_.key(parent).number == uint32_t(kind)) {
      return parent;  // backward inside of the user's range "backward"
    }
    return nodes_.Find({parent, uint32_t(kind), TreeKind::kPhase, kind == PhaseKind::kBackward},
                       [&] { return std::string(PhaseKindName(kind)); });
  }

  void EnterRange(uint32_t row) {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    if (ranges.style[row] != NvtxStyle::kPushPop) return;
    const uint32_t parent = Innermost([](const Frame&) { return true; });
    const uint32_t node = RangeNode(ranges.message[row], parent);
    if (node == kNoNode) return;
    node_of_range_[row] = node;
    Enter(node, ranges.start_ns[row], ClosedEnd(store_, ranges.start_ns[row], ranges.end_ns[row]),
          TreeKind::kRange);
  }

  // Ranges whose names differ by a number are one node; those of steps and phases are none.
  uint32_t RangeNode(StringId message, uint32_t parent) {
    const std::string_view text = store_.Text(message);
    const RangeName name = SplitRangeName(text);
    if (IsStepRangeName(name.base) || PhaseOfRangeName(text) != PhaseKind::kOther) return kNoNode;
    const auto same = range_names_.try_emplace(name.base, message.value).first->second;
    return nodes_.Find({parent, same, TreeKind::kRange, false},
                       [&] { return std::string(name.number < 0 ? text : name.base); });
  }

  // A module is below the module that calls it; inside of a backward function (a forward that is
  // computed again) below that.
  void EnterModule(uint32_t row) {
    const ModuleCallsTable& calls = store_.module_calls;
    const uint32_t parent = Innermost([this](const Frame& frame) {
      return frame.kind == TreeKind::kModule ||
             (frame.kind == TreeKind::kOperator && nodes_.key(frame.node).backward);
    });
    const bool backward = parent != TreeNodes::kRoot && nodes_.key(parent).backward;
    uint32_t node = parent;  // a module that calls itself stays one node
    for (; node != TreeNodes::kRoot; node = nodes_.key(node).parent) {
      const TreeNodes::Key& key = nodes_.key(node);
      if (key.kind == TreeKind::kModule && key.number == calls.path[row].value) break;
    }
    if (node == TreeNodes::kRoot) {
      node = nodes_.Find({parent, calls.path[row].value, TreeKind::kModule, backward},
                         [&] { return std::string(store_.Text(calls.path[row])); });
    }
    nodes_.node(node).detail = calls.class_name[row];
    node_of_module_[row] = node;
    Enter(node, calls.start_ns[row], ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]),
          TreeKind::kModule);
  }

  void EnterOperator(uint32_t row) {
    const OperatorCallsTable& calls = store_.operator_calls;
    bool backward = calls.scope[row] == OperatorScope::kBackward;
    uint32_t parent = ForwardNode(row);
    if (parent != kNoNode) {
      backward = true;
    } else {
      parent = Innermost([](const Frame&) { return true; });
      backward |= parent != TreeNodes::kRoot && nodes_.key(parent).backward;
    }
    const uint32_t name = CanonicalName(calls.name[row]);
    const TreeNodes::Key key{parent, name, TreeKind::kOperator, backward};
    // Autocast calls an operator from itself, the engine a function: one node, one call.
    const bool again = parent != TreeNodes::kRoot && nodes_.key(parent).kind == key.kind &&
                       nodes_.key(parent).number == name && nodes_.key(parent).backward == backward;
    const uint32_t node =
        again ? parent : nodes_.Find(key, [&] { return std::string(store_.Text(StringId{name})); });
    TreeNode& made = nodes_.node(node);
    if (made.detail.IsNone()) made.detail = calls.shapes[row];
    made.more_details += made.detail != calls.shapes[row];
    node_of_operator_[row] = node;
    Enter(node, calls.start_ns[row], ClosedEnd(store_, calls.start_ns[row], calls.end_ns[row]),
          TreeKind::kOperator, again ? 0 : 1);
  }

  // "autograd::engine::evaluate_function: MmBackward0" is the engine's call around "MmBackward0".
  uint32_t CanonicalName(StringId name) {
    if (name.IsNone()) return name.value;
    uint32_t& known = canonical_[name.row()];
    if (known != kNoNode) return known;
    known = name.value;
    const std::string_view text = store_.Text(name);
    if (!text.starts_with(kEngineCall)) return known;
    const size_t colon = kEngineCall.size();
    if (!text.substr(colon).starts_with(": ")) return known;
    const StringId function = store_.strings.Find(text.substr(colon + 2));
    if (!function.IsNone()) known = function.value;
    return known;
  }

  // The node of the operator that this call differentiates.
  uint32_t ForwardNode(uint32_t row) {
    const OperatorCallId call = OperatorCallId::At(row);
    while (link_ < links_.size() && links_[link_].backward < call) ++link_;  // rows come in order
    if (link_ == links_.size() || links_[link_].backward != call) return kNoNode;
    return node_of_operator_[links_[link_].forward.row()];
  }

  template <typename Wanted>
  uint32_t Innermost(Wanted&& wanted) const {
    for (size_t i = stack_.size(); i-- > 0;) {
      if (wanted(stack_[i])) return stack_[i].node;
    }
    return TreeNodes::kRoot;
  }

  bool Counts(const BinPlace& place) const {
    return place.bin < bins_.bins().size() && bins_.bins()[place.bin].steady;
  }

  // The time of the call is that of its node, and no longer that of the call around it.
  void Enter(uint32_t node, int64_t start_ns, int64_t end_ns, TreeKind kind, uint32_t calls = 1) {
    if (!stack_.empty()) {
      overlap_ |= end_ns > stack_.back().end_ns;
      const int64_t until_ns = std::min(end_ns, stack_.back().end_ns);
      const CriticalPart part = critical_.Of(thread_, start_ns, until_ns, critical_at_);
      nodes_.Add(stack_.back().node, stack_.back().place, -part.waited_for_ns, -part.beside_ns, 0);
    }
    const BinPlace place = bins_.Of(thread_, start_ns);
    const CriticalPart part = critical_.Of(thread_, start_ns, end_ns, critical_at_);
    nodes_.Add(node, place, part.waited_for_ns, part.beside_ns, calls);
    if (calls > 0) nodes_.AddCall(node, {start_ns, end_ns}, Counts(place));
    stack_.push_back({end_ns, node, place, kind});
    // Of calls that do not nest each is looked at again and again.
    if (overlap_ && stack_.size() > kMostLevels) stack_.erase(stack_.begin());
  }

  // --- work on the GPU -------------------------------------------------------------------------

  template <typename Table>
  void AddWork(const Table& table, const std::vector<WorkOwner>& owners, TreeKind kind) {
    for (size_t row = 0; row < owners.size(); ++row) {
      if (table.end_ns[row] == kOpenEnd) continue;
      const uint32_t owner = OwnerNode(owners[row]);
      const bool backward = nodes_.key(owner).backward || owners[row].backward;
      const uint32_t number = NumberOf(table, row);
      const uint32_t node =
          nodes_.Find({owner, number, kind, backward}, [&] { return WorkName(table, row); });
      const ApiCallId call = table.api_call[row];
      const BinPlace place = call.IsNone() ? bins_.outside()
                                           : bins_.Of(store_.api_calls.thread[call.row()],
                                                      store_.api_calls.start_ns[call.row()]);
      nodes_.Add(node, place, table.end_ns[row] - table.start_ns[row], 0, 1);
      nodes_.AddCall(node, {table.start_ns[row], table.end_ns[row]}, Counts(place));
    }
  }

  uint32_t OwnerNode(const WorkOwner& owner) {
    if (!owner.op.IsNone() && node_of_operator_[owner.op.row()] != kNoNode) {
      return node_of_operator_[owner.op.row()];
    }
    if (!owner.module.IsNone() && node_of_module_[owner.module.row()] != kNoNode) {
      return node_of_module_[owner.module.row()];
    }
    if (!owner.phase.IsNone()) {
      return PhaseNode(PhaseKindOfCall(store_.phase_calls.phase[owner.phase.row()]),
                       TreeNodes::kRoot);
    }
    if (!owner.range.IsNone()) return OwnerRange(owner.range);
    return nodes_.Find({TreeNodes::kRoot, 0, TreeKind::kNobody, false},
                       [] { return std::string("belongs to nothing"); });
  }

  // The innermost range that says something; else the innermost one under its own name.
  uint32_t OwnerRange(NvtxRangeId range) {
    const NvtxRangesTable& ranges = store_.nvtx_ranges;
    owner_of_range_.resize(ranges.size(), kNoNode);
    uint32_t node = kNoNode;
    NvtxRangeId at = range;
    for (; node == kNoNode && !at.IsNone(); at = ranges.parent[at.row()]) {
      node = owner_of_range_[at.row()];
      if (node == kNoNode) node = NodeOfRange(at.row());
    }
    if (node == kNoNode) {
      node = nodes_.Find({TreeNodes::kRoot, 0, TreeKind::kRange, false},
                         [] { return std::string("step, in no other range"); });
    }
    for (NvtxRangeId on_the_way = range; on_the_way != at;
         on_the_way = ranges.parent[on_the_way.row()]) {
      owner_of_range_[on_the_way.row()] = node;
    }
    return node;
  }

  // kNoNode: it says nothing.
  uint32_t NodeOfRange(size_t row) {
    if (with_ranges_ && node_of_range_[row] != kNoNode) return node_of_range_[row];
    const StringId message = store_.nvtx_ranges.message[row];
    const PhaseKind kind = PhaseOfRangeName(store_.Text(message));
    return kind != PhaseKind::kOther ? PhaseNode(kind, TreeNodes::kRoot)
                                     : RangeNode(message, TreeNodes::kRoot);
  }

  static uint32_t NumberOf(const KernelsTable& table, size_t row) {
    return table.demangled_name[row].value;
  }
  static uint32_t NumberOf(const MemcpysTable& table, size_t row) {
    return Number(table.copy_kind[row]);
  }
  static uint32_t NumberOf(const MemsetsTable&, size_t) { return 0; }
  static uint32_t NumberOf(const GraphLaunchesTable& table, size_t row) {
    return table.graph_exec[row];
  }
  std::string WorkName(const KernelsTable& table, size_t row) const {
    return std::string(store_.Text(table.demangled_name[row]));
  }
  std::string WorkName(const MemcpysTable& table, size_t row) const {
    return "copy " + std::string(Label(table.copy_kind[row]));
  }
  std::string WorkName(const MemsetsTable&, size_t) const { return "memset"; }
  std::string WorkName(const GraphLaunchesTable& table, size_t row) const {
    return "CUDA graph " + std::to_string(table.graph_exec[row]);
  }

  const Store& store_;
  const CriticalTime& critical_;
  size_t critical_at_ = 0;
  const PhaseMarks& marks_;
  const std::vector<BackwardLink>& links_;
  size_t link_ = 0;
  BinFinder bins_;
  TreeNodes nodes_;
  bool with_ranges_;
  std::vector<uint32_t> canonical_;         // by string; kNoNode: not asked for yet
  std::vector<uint32_t> node_of_operator_;  // by row of the calls
  std::vector<uint32_t> node_of_module_;
  std::vector<uint32_t> node_of_range_;  // empty without with_ranges_
  std::unordered_map<std::string, uint32_t> range_names_;
  std::vector<uint32_t> owner_of_range_;  // kNoNode: not asked for yet
  ThreadId thread_;                       // that is being walked, with what is left of its rows
  ThreadSpans::Rows phase_, range_, module_, operator_;
  std::vector<Frame> stack_;
  bool overlap_ = false;  // a call on it ends after the one below
};

// Sums over steady bins, then over the nodes inside.
void SetTotals(const StepSet& steps, AttributionTree& tree) {
  double count = 0;
  int64_t total_ns = 0;
  for (const ProcessSteps& process : steps.processes) total_ns += process.duration.total;
  uint64_t steady = 0;
  for (const ProcessSteps& process : steps.processes) steady += process.steady.size();
  for (const StepBin& bin : tree.bins) count += bin.steady ? bin.steps : 0;
  tree.per_step = count > 0;
  tree.step_ns = steady == 0 ? 0 : double(total_ns) / double(steady);
  const double divisor = tree.per_step ? count : 1;
  for (size_t row = 0; row < tree.nodes.size(); ++row) {
    TreeNode& node = tree.nodes[row];
    for (size_t bin = 0; bin < tree.columns(); ++bin) {
      if (tree.per_step && (bin == tree.bins.size() || !tree.bins[bin].steady)) continue;
      node.self_ns += double(tree.self_ns[row * tree.columns() + bin]) / divisor;
      node.beside_ns += double(tree.beside_ns[row * tree.columns() + bin]) / divisor;
      node.calls += double(tree.calls[row * tree.columns() + bin]) / divisor;
    }
    const bool gpu = IsGpuWork(node.kind);
    double& own = gpu ? (node.backward ? node.gpu_backward_ns : node.gpu_forward_ns)
                      : (node.backward ? node.cpu_backward_ns : node.cpu_forward_ns);
    own += node.self_ns;
  }
  for (size_t row = tree.nodes.size(); row-- > 0;) {
    const TreeNode& node = tree.nodes[row];
    if (node.parent < 0) continue;
    TreeNode& parent = tree.nodes[static_cast<size_t>(node.parent)];
    if (IsGpuWork(node.kind)) parent.gpu_self_ns += node.self_ns;
    parent.beside_ns += node.beside_ns;
    parent.cpu_forward_ns += node.cpu_forward_ns;
    parent.cpu_backward_ns += node.cpu_backward_ns;
    parent.gpu_forward_ns += node.gpu_forward_ns;
    parent.gpu_backward_ns += node.gpu_backward_ns;
  }
}

}  // namespace

std::string_view TreeKindName(TreeKind kind) {
  constexpr std::string_view kNames[] = {"phase", "range",  "module", "operator",    "kernel",
                                         "copy",  "memset", "graph",  "unattributed"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<uint32_t> AttributionTree::LargestNodes(size_t most) const {
  double cpu = 1;
  double gpu = 1;
  for (const TreeNode& node : nodes) {
    if (node.parent >= 0) continue;
    cpu += node.cpu_ns();
    gpu += node.gpu_ns();
  }
  // A parent weighs at least as much as its children; where they are equal it stands before them.
  std::vector<double> weight;
  for (const TreeNode& node : nodes) {
    weight.push_back(std::max(node.cpu_ns() / cpu, node.gpu_ns() / gpu));
  }
  std::vector<uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return weight[a] > weight[b]; });
  order.resize(std::min(most, order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

AttributionTree BuildAttributionTree(const Store& store, const StepSet& steps,
                                     const CriticalTime& critical, const PhaseMarks& marks,
                                     const BackwardLinks& links, const Attribution& work) {
  AttributionTree tree = TreeBuilder(store, steps, critical, marks, links).Build(work);
  SetTotals(steps, tree);
  return tree;
}

}  // namespace batchlight
