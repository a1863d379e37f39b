// The attribution tree as a table: parents before children, the level in a column of its own.
#include "analysis/numbers/percent.h"
#include "analysis/result/result_column.h"
#include "analysis/tables/overview_tables.h"

namespace batchlight {
namespace {

struct Wholes {
  double cpu_ns = 0;
  double gpu_ns = 0;
};

Wholes WholesOf(const AttributionTree& tree) {
  Wholes wholes;
  for (const TreeNode& node : tree.nodes) {
    if (node.parent >= 0) continue;
    wholes.gpu_ns += node.gpu_ns();
    wholes.cpu_ns += node.cpu_ns();
  }
  if (tree.step_ns > 0) wholes.cpu_ns = tree.step_ns;
  return wholes;
}

Columns<TreeNode> NodeColumns(const Store& store) {
  return {{CountColumn("level", "Level",
                       "0 = in nothing; a row is inside the last row above that has a smaller "
                       "level"),
           [](const TreeNode& node) { return int64_t{node.depth}; }},
          {TextColumn("kind", "Kind",
                      "phase, range, module, operator, kernel, copy, memset, graph, unattributed"),
           [](const TreeNode& node) { return std::string(TreeKindName(node.kind)); }},
          {TextColumn("name", "Name", ""), &TreeNode::name},
          {TextColumn("detail", "Detail", "Class of a module, first input shapes of an operator"),
           [&store](const TreeNode& node) { return std::string(store.Text(node.detail)); }},
          {TextColumn("pass", "Pass", "backward, or empty"),
           [](const TreeNode& node) { return std::string(node.backward ? "backward" : ""); }}};
}

void AddTimes(const AttributionTree& tree, Columns<TreeNode>& columns) {
  const std::string mean = tree.per_step ? "Mean per step that counts" : "In the whole run";
  const std::string inside = mean + ", with all that is inside";
  const Wholes wholes = WholesOf(tree);
  const Columns<TreeNode> times = {
      {RealColumn("calls", "Calls", mean), &TreeNode::calls},
      {TimeColumn("cpu_self", "CPU Self", mean + ", without what is inside"),
       [](const TreeNode& node) {
         return NanosecondsCell(IsGpuWork(node.kind) ? 0 : node.self_ns);
       }},
      {TimeColumn("cpu_forward", "CPU Forward", inside), Nanoseconds(&TreeNode::cpu_forward_ns)},
      {TimeColumn("cpu_backward", "CPU Backward", inside), Nanoseconds(&TreeNode::cpu_backward_ns)},
      {PercentColumn("cpu_share", "CPU Share", "CPU forward and backward / mean step"),
       [wholes](const TreeNode& node) { return PercentOf(node.cpu_ns(), wholes.cpu_ns); }},
      {TimeColumn("beside", "CPU Other Threads",
                  "On threads that the step does not wait for, with all that is inside"),
       Nanoseconds(&TreeNode::beside_ns)},
      {TimeColumn("gpu_self", "GPU Self", mean + ", launched by the row itself"),
       [](const TreeNode& node) {
         return NanosecondsCell(IsGpuWork(node.kind) ? node.self_ns : node.gpu_self_ns);
       }},
      {TimeColumn("gpu_forward", "GPU Forward", inside), Nanoseconds(&TreeNode::gpu_forward_ns)},
      {TimeColumn("gpu_backward", "GPU Backward", inside), Nanoseconds(&TreeNode::gpu_backward_ns)},
      {PercentColumn("gpu_share", "GPU Share", "Of all GPU time in the tree"),
       [wholes](const TreeNode& node) { return PercentOf(node.gpu_ns(), wholes.gpu_ns); }}};
  Append(columns, times);
}

}  // namespace

ResultTable MakeAttributionTable(const RunOverview& overview) {
  Columns<TreeNode> columns = NodeColumns(*overview.store);
  AddTimes(overview.tree, columns);
  return TableOf("attribution", "Model, modules, operators, kernels", columns, overview.tree.nodes);
}

}  // namespace batchlight
